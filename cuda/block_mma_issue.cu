// Issue rate of block-scaled mma.sync, which only sm_120a has.
// SPDX-License-Identifier: Apache-2.0
