//===- OtherNames.h - Names of functions in other builds --------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace adbg::detour {

/// Returns the names that a function has in other builds and versions, where it
/// or a class among its parameters has another name there, and nothing else
/// differs. The texts live forever.
const std::vector<std::string> &otherNames(std::string_view symbol);

} // namespace adbg::detour
