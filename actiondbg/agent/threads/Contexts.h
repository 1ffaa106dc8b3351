//===- Contexts.h - The MLIR contexts of the process ------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// The contexts of the process, numbered in the order of their creation.
class Contexts {
public:
  static constexpr unsigned unknown = 0xffff;
  struct Record {
    /// Such as c0.
    std::string name;
    /// The name of the file of its MLIR; empty where that is not known.
    std::string mlir;
    /// The number of the thread that last ran an action in it; -1 if none.
    int thread = -1;
    uint64_t actions = 0;
    bool isLive = true;
  };

  static Contexts &all();
  /// Adds a new context and returns its number.
  unsigned add(const void *context);
  void remove(const void *context);
  void clear();
  /// Returns the number of a live context, or `unknown`.
  unsigned numberOf(const void *context);
  /// Adds actions that a thread ran in a context.
  void ran(unsigned number, int thread, uint64_t actions);
  std::deque<Record> list();
  size_t count();
  /// The number of contexts with actions; one runs in `current`.
  size_t countUsed(unsigned current);

  /// Returns the name of a context; empty if it is unknown.
  StringRef nameOf(unsigned number);
  /// Returns the name of the file of a context's MLIR; empty if it is unknown.
  StringRef mlirOf(unsigned number);
  /// Remembers a context. Contexts that are gone stay: a pointer is only
  /// compared with them to confirm the layout of a class.
  static void note(const void *context);
  static bool has(const void *pointer);
  /// Whether contexts of several MLIRs were made.
  bool hasSeveralMlirs();

private:
  std::mutex mutex;
  // Its elements stay where they are.
  std::deque<Record> records;
  std::unordered_map<const void *, unsigned> live;
  std::unordered_set<const void *> seen;
};

} // namespace adbg
