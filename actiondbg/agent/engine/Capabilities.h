//===- Capabilities.h - What the agent can do in this process ---*- C++ -*-===//

#pragma once

#include "llvm/Support/JSON.h"

namespace adbg {

/// The names of the capabilities whose check has passed in this process.
llvm::json::Array capabilities();

/// Why capabilities are missing, by their names: ends of sentences.
llvm::json::Object missingCapabilities();

/// Adds the capabilities whose check has failed since hello, with the reasons,
/// to a stop, once.
void addLostCapabilities(llvm::json::Object &stop);

} // namespace adbg
