//===- Contexts.h - The MLIR contexts of the process ------------*- C++ -*-===//

#pragma once

#include "detour/Instances.h"
#include "support/AgentHeap.h"
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

  static Contexts &all() { return immortal<Contexts>(); }
  /// Adds a new context, of the current MLIR.
  void add(const void *context) {
    std::lock_guard<std::mutex> lock(mutex);
    std::string file = Instances::all().fileOf(Instances::current());
    unsigned number = records.size();
    records.push_back({.name = "c" + std::to_string(number),
                       .mlir = file.substr(file.rfind('/') + 1)});
    live[context] = number;
  }
  void remove(const void *context) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = live.find(context);
    if (found == live.end())
      return;
    records[found->second].isLive = false;
    live.erase(found);
  }
  void clear() {
    std::lock_guard<std::mutex> lock(mutex);
    records.clear();
    live.clear();
  }
  /// Returns the number of a live context, or `unknown`.
  unsigned numberOf(const void *context) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = live.find(context);
    return found == live.end() ? unknown : std::min(found->second, unknown);
  }
  /// Adds actions that a thread ran in a context.
  void ran(unsigned number, int thread, uint64_t actions) {
    std::lock_guard<std::mutex> lock(mutex);
    if (number >= records.size())
      return;
    records[number].thread = thread;
    records[number].actions += actions;
  }
  std::deque<Record> list() {
    std::lock_guard<std::mutex> lock(mutex);
    return records;
  }
  size_t count() {
    std::lock_guard<std::mutex> lock(mutex);
    return records.size();
  }
  /// The number of contexts with actions; one runs in `current`.
  size_t countUsed(unsigned current) {
    std::lock_guard<std::mutex> lock(mutex);
    size_t used = 0;
    for (size_t i = 0; i < records.size(); ++i)
      used += records[i].actions || i == current;
    return used;
  }

  /// Returns the name of a context; empty if it is unknown.
  StringRef nameOf(unsigned number) { return textOf(number, &Record::name); }
  /// Returns the name of the file of a context's MLIR; empty if it is unknown.
  StringRef mlirOf(unsigned number) { return textOf(number, &Record::mlir); }
  /// Whether contexts of several MLIRs were made.
  bool hasSeveralMlirs() {
    std::lock_guard<std::mutex> lock(mutex);
    return std::ranges::any_of(records, [&](const Record &record) {
      return record.mlir != records.front().mlir;
    });
  }

  /// Remembers a context. Contexts that are gone stay: a pointer is only
  /// compared with them to confirm the layout of a class.
  static void note(const void *context) {
    if (last == context)
      return;
    last = context;
    AgentHeap agentHeap;
    Contexts &contexts = all();
    std::lock_guard<std::mutex> lock(contexts.mutex);
    contexts.seen.insert(context);
  }
  static bool has(const void *pointer) {
    if (pointer && last == pointer)
      return true;
    Contexts &contexts = all();
    std::lock_guard<std::mutex> lock(contexts.mutex);
    return contexts.seen.count(pointer);
  }

private:
  StringRef textOf(unsigned number, std::string Record::*text) {
    std::lock_guard<std::mutex> lock(mutex);
    bool isKnown = number != unknown && number < records.size();
    return isKnown ? StringRef(records[number].*text) : "";
  }

  /// The context that this thread noted last.
  static inline thread_local const void *last = nullptr;

  std::mutex mutex;
  // Its elements stay where they are.
  std::deque<Record> records;
  std::unordered_map<const void *, unsigned> live;
  std::unordered_set<const void *> seen;
};

} // namespace adbg
