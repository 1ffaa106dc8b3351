//===- Locations.h - File locations inside locations ------------*- C++ -*-===//

#pragma once

#include "interpose/Versions.h"

namespace adbg {

/// Returns the first file location inside `loc`.
std::optional<FilePlace> firstPlace(Location loc);

/// Calls `visit` on each location inside `loc` until it returns true.
bool visitLocations(Location loc, function_ref<bool(Location)> visit);

} // namespace adbg
