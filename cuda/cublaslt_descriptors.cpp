// A matrix product as the library's own descriptors.
// SPDX-License-Identifier: Apache-2.0
