// What most tests include, precompiled. Every file still includes what it uses.
// SPDX-License-Identifier: Apache-2.0
#include "precompiled_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
