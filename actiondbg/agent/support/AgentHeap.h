//===- AgentHeap.h - Memory of the agent's own ------------------*- C++ -*-===//
//
// MLIR keeps tables by address, and iterates over some of them: the order in
// which a dialect conversion creates operations, and so their ids, depends on
// where the tool's memory lies. What the agent allocates differs between a run
// and its replays, and must not move it.
//
//===----------------------------------------------------------------------===//

#pragma once

namespace adbg {

/// What the agent's own code allocates comes from a heap apart from the tool's;
/// while one of these lives, also what this thread allocates elsewhere, such as
/// in the C library. Memory of both heaps may be freed at any time.
class AgentHeap {
public:
  AgentHeap() { ++uses; }
  ~AgentHeap() { --uses; }
  AgentHeap(const AgentHeap &) = delete;

  friend class ToolHeap;
  static bool isUsed() { return __builtin_expect(uses != 0, 0); }
  /// Not 0 while this thread is in such code of the agent.
  static const unsigned *usesOfThread() { return &uses; }
  /// Gives back address space that is reserved, but for some.
  static void giveBack();

private:
  // The model needs no call, which could allocate.
  __attribute__((tls_model("initial-exec"))) static __thread unsigned uses;
};

/// While one lives within an AgentHeap, what the tool's code allocates comes
/// from the tool's heap: IR that the agent creates for the tool.
class ToolHeap {
public:
  ToolHeap() : uses(AgentHeap::uses) { AgentHeap::uses = 0; }
  ~ToolHeap() { AgentHeap::uses = uses; }
  ToolHeap(const ToolHeap &) = delete;

private:
  unsigned uses;
};

} // namespace adbg
