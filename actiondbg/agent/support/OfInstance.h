//===- OfInstance.h - Facts that differ by MLIR -----------------*- C++ -*-===//

#pragma once

/// Of a variable of static storage that has another value for each MLIR in the
/// process, see detour/Instances.h. It is copied byte by byte.
#define ADBG_OF_INSTANCE __attribute__((section("adbg_of_instance")))
