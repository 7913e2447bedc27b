// Where NVIDIA's matrix library may lie.
// SPDX-License-Identifier: Apache-2.0
