// Issue rate of tcgen05.mma, which only sm_100a and sm_103a have.
// SPDX-License-Identifier: Apache-2.0
