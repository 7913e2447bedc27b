// What the library calls an algorithm, in words for a row.
// SPDX-License-Identifier: Apache-2.0
