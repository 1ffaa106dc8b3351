//===- Capabilities.cpp - What the agent can do in this process -----------===//

#include "detour/Instances.h"
#include "engine/Describe.h"
#include "interpose/HookedCapabilities.h"
#include "interpose/ReasonListener.h"
#include "layout/Layout.h"
#include "layout/LeftOut.h"
#include "support/Connection.h"
#include "support/OfInstance.h"
#include "support/Without.h"
#include <string>

namespace adbg {

namespace {

constexpr const char *names[] = {
    "interrupt", "skip",        "print",         "location",
    "cursor",    "outcomes",    "changes",       "folds",
    "reasons",   "threads-off", "fork",          "ordinals-stable",
    "watch",     "catch",       "values",        "record",
    "lineage",   "edit",        "legalizations", "alternatives",
    "statistics"};

/// Returns which check of MLIR's layout a capability failed. Before the first
/// IR is seen, none has failed.
std::string whyNotRead(StringRef name) {
  struct Need {
    StringRef capability;
    Layout::Check check;
  };
  static constexpr Need needs[] = {
      {"cursor", Layout::Check::Regions},
      {"changes", Layout::Check::Operations},
      {"folds", Layout::Check::Operations},
      {"lineage", Layout::Check::Regions},
      {"values", Layout::Check::Values},
      {"location", Layout::Check::Printing},
      {"location", Layout::Check::Locations},
      {"print", Layout::Check::Printing},
      {"edit", Layout::Check::Regions},
      {"edit", Layout::Check::Values},
      {"legalizations", Layout::Check::Operations},
      {"alternatives", Layout::Check::Operations},
  };
  for (const Need &need : needs) {
    StringRef owner = Layout::capabilityOf(need.check);
    if (need.capability == name && isSwitchedOff(owner))
      return "it needs '" + owner.str() + "': " + switchedOff;
  }
  if (!Layout::isDecided())
    return "";
  for (const Need &need : needs)
    if (need.capability == name && !Layout::passed(need.check))
      return "the layout of this MLIR is not known: " +
             Layout::failure(need.check);
  if (name == "reasons" && !ReasonListener::isKnown())
    return "the layout of this MLIR's rewriters is not known";
  return "";
}

/// Returns why a capability is missing: the end of a sentence; empty if its
/// check passed.
std::string missing(StringRef name) {
  if (isSwitchedOff(name))
    return switchedOff;
  // A program that connected by itself outlives the front end: others wait for
  // this process, and a fork cannot take its place.
  if (name == "fork" && Connection::onGone)
    return "other processes wait for the program that connected by itself";
  if (std::string why = whyLeftOut(name); !why.empty())
    return why;
  if (std::string why = whyNotRead(name); !why.empty())
    return why;
  if (std::string why = whyNotHooked(name); !why.empty())
    return why;
  return "";
}

} // namespace

Array capabilities() {
  Array result;
  for (const char *name : names)
    if (missing(name).empty())
      result.push_back(name);
  return result;
}

void addLostCapabilities(Object &stop) {
  // The front end has those of the MLIR at the last stop.
  static unsigned told = 0;
  if (std::exchange(told, Instances::current()) != told) {
    stop["capabilities"] = capabilities();
    stop["missing"] = missingCapabilities();
    return;
  }
  static ADBG_OF_INSTANCE bool isTold = false;
  if (!Layout::isDecided() || std::exchange(isTold, true))
    return;
  Object lost;
  for (const char *name : names)
    if (!whyNotRead(name).empty())
      lost[name] = missing(name);
  if (!lost.empty())
    stop["missing"] = std::move(lost);
}

Object missingCapabilities() {
  Object result;
  for (const char *name : names)
    if (std::string why = missing(name); !why.empty())
      result[name] = why;
  return result;
}

} // namespace adbg
