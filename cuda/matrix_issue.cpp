// The rate at which the matrix units take instructions: which kernels, how often, and which is fastest.
// SPDX-License-Identifier: Apache-2.0
