// Formats in NVIDIA's words.
// SPDX-License-Identifier: Apache-2.0
