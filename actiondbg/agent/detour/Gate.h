//===- Gate.h - The first call of a detoured function -----------*- C++ -*-===//

#pragma once

#include "detour/Detour.h"

/// The target of a crossing that calls adbg_openGate with its arguments kept,
/// then the function that it returns. It has no C++ type: it is a function of
/// any type with at most six arguments in registers, and none of them a
/// floating-point number.
extern "C" void adbg_gate() __attribute__((visibility("hidden")));

/// Returns the function to call for a crossing whose target is a gate.
extern "C" void *adbg_openGate(adbg::detour::Crossing *crossing)
    __attribute__((visibility("hidden"), used));
