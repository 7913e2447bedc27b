// Matrix products by NVIDIA's library: algorithms asked for, tried and timed.
// SPDX-License-Identifier: Apache-2.0
