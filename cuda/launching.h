// How kernels are started: by their addresses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/launch_by_address.h"
