// Own matrix products: which kernel, and how it is launched.
// SPDX-License-Identifier: Apache-2.0
