// A matrix product in the library's terms, and which it can do.
// SPDX-License-Identifier: Apache-2.0
