// Matrix products by the library where there is one, by own kernels where there is none.
// SPDX-License-Identifier: Apache-2.0
