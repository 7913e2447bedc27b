// Issue rate of mma.sync.
// SPDX-License-Identifier: Apache-2.0
