// Issue rate of wgmma, which only sm_90a has.
// SPDX-License-Identifier: Apache-2.0
