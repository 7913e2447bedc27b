// NVIDIA's matrix library, opened at run time.
// SPDX-License-Identifier: Apache-2.0
