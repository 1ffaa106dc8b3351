//===- Instances.h - The MLIRs in the process -------------------*- C++ -*-===//
//
// A process may have several libraries with an MLIR of their own, built from
// different sources. The agent's code and its references to MLIR's functions
// exist once: what they mean depends on the MLIR that called the agent. One
// instance is current at a time, and the facts of the others are put aside.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "support/System.h"

namespace adbg {

/// The MLIRs that have made a context, numbered in this order.
class Instances {
public:
  static constexpr unsigned most = 4;
  static Instances &all();

  /// Notes the places that hold a reference to the tool; called once, before
  /// any is bound.
  void watch(std::vector<uint64_t *> references);
  /// Adds an instance, of which nothing is known. `file`: its path. Called by
  /// one thread at a time.
  unsigned add(std::string file);
  /// Removes the newest one.
  void removeNewest();
  unsigned count() const { return used; }
  /// The path of the file of an instance; empty if there is none.
  std::string fileOf(unsigned number) const;

  /// The number of the instance whose facts are in their places.
  static unsigned current() { return now; }
  /// Whether the process has several libraries with MLIR: then each call of the
  /// agent makes its caller's facts current.
  static bool areSeveral() { return __builtin_expect(several, false); }
  static void becomeSeveral();
  /// Returns whether a thread other than this one is in an action; null before
  /// actions are followed.
  static bool (*isBusyElsewhere)();
  /// Whether such an action may have begun before there were several: then
  /// nothing notes its use of an instance.
  static bool hasUnnotedUse() { return isUnnoted && isBusyElsewhere(); }

  /// Makes an instance current.
  void change(unsigned to);

private:
  /// What an instance has in the places of facts.
  struct Facts {
    std::vector<char> variables;
    std::vector<uint64_t> references;
  };
  Facts read() const;
  void write(const Facts &facts) const;

  static bool several, isUnnoted;
  static unsigned now;
  unsigned used = 0;
  std::string files[most];
  /// Those of the current one are outdated.
  Facts aside[most];
  /// As before any instance was bound.
  Facts none;
  std::vector<uint64_t *> references;
};

/// While one lives, the facts are those of an instance. Another thread may use
/// the same instance meanwhile, and no other one.
class InstanceUse {
public:
  /// Waits a second for other threads if `isPatient`.
  InstanceUse(unsigned instance, bool isPatient);
  ~InstanceUse();
  InstanceUse(const InstanceUse &) = delete;

  /// False if another thread uses another instance.
  explicit operator bool() const { return isUsed; }
  /// Ends those of this thread whose functions are left by a jump that drops
  /// the stack down to an address.
  static void drop(uintptr_t stack);

private:
  bool isUsed = true, isNoted = false;
};

} // namespace adbg
