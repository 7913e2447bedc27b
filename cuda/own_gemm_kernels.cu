// Own matrix products on the matrix units, and by plain multiply-adds.
// SPDX-License-Identifier: Apache-2.0
