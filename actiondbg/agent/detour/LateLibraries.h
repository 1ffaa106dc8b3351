//===- LateLibraries.h - Libraries that a program loads later ---*- C++ -*-===//

#pragma once

namespace adbg::detour {

/// Calls `onChange` whenever libraries were loaded or unloaded. New ones are in
/// memory then, but may not be relocated: only their code and their symbols can
/// be used. Returns why that is impossible, or null.
const char *watchLibraries(void (*onChange)());

} // namespace adbg::detour
