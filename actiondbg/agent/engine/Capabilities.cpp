//===- Capabilities.cpp - What the agent can do in this process -----------===//

#include "engine/Capabilities.h"
#include "support/Connection.h"
#include <string>

using llvm::StringRef;

namespace adbg {

namespace {

constexpr const char *names[] = {
    "interrupt", "skip",        "print",         "location",
    "cursor",    "outcomes",    "changes",       "folds",
    "reasons",   "threads-off", "fork",          "ordinals-stable",
    "watch",     "catch",       "values",        "record",
    "lineage",   "edit",        "legalizations", "alternatives",
    "statistics"};

/// Returns why a capability is missing: the end of a sentence; empty if its
/// check passed.
std::string missing(StringRef name) {
  // A program that connected by itself outlives the front end: others wait for
  // this process, and a fork cannot take its place.
  if (name == "fork" && Connection::onGone)
    return "other processes wait for the program that connected by itself";
#ifdef ADBG_PORTABLE
  if (name == "edit" || name == "legalizations" || name == "alternatives")
    return "it was compiled without the headers of the tool's MLIR; use a "
           "build of the tool with its headers (--mlir-include DIR)";
#endif
  return "";
}

} // namespace

StringRef agentWay() {
#if defined(ADBG_PORTABLE)
  return "portable";
#elif defined(ADBG_DETOUR)
  return "detour";
#else
  return "native";
#endif
}

llvm::json::Array capabilities() {
  llvm::json::Array result;
  for (const char *name : names)
    if (missing(name).empty())
      result.push_back(name);
  return result;
}

llvm::json::Object missingCapabilities() {
  llvm::json::Object result;
  for (const char *name : names)
    if (std::string why = missing(name); !why.empty())
      result[name] = why;
  return result;
}

} // namespace adbg
