// The ways in which work can go wrong. The message says what was being done to what, and what the system said.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace assay {

// Anything that should have worked and did not; a case that throws it becomes `failed`. Default visibility, because it
// crosses the border between the program and its plug-ins.
class __attribute__((visibility("default"))) Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what) : std::runtime_error(what) {}
};

// This device or build cannot do it, and that is nobody's fault; a case that throws it becomes `skipped`.
class __attribute__((visibility("default"))) Unsupported : public Error {
 public:
  explicit Unsupported(const std::string& what) : Error(what) {}
};

// The device or the host has not enough memory.
class __attribute__((visibility("default"))) OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& what) : Error(what) {}
};

// The device can do nothing more for this process: an illegal access, a hardware fault, a card fallen off its bus. The
// case fails, and a fresh process goes on with the next.
class __attribute__((visibility("default"))) DeviceLost : public Error {
 public:
  explicit DeviceLost(const std::string& what) : Error(what) {}
};

// The user gave something that cannot be used: a bad option, model or file. Ends the program with exit code 64.
class __attribute__((visibility("default"))) BadInput : public Error {
 public:
  explicit BadInput(const std::string& what) : Error(what) {}
};

}  // namespace assay
