//===- Pass.h - Passes ------------------------------------------*- C++ -*-===//

#pragma once

#include "layout/Layout.h"

#include "mlir/IR/Action.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {

/// The analyses of an operation, and where the pass that runs notes the
/// analyses that it preserves: from that, the layout of such a set is learned.
class AnalysisManager {
public:
  /// The tool's: one pointer, before the set.
  struct Stored {
    void *analyses;
  };

  AnalysisManager(const Stored &stored)
      : analyses(stored.analyses),
        set(reinterpret_cast<const uint64_t *>(&stored + 1)) {}

  ADBG_STAND_IN AnalysisManager nest(Operation *op) {
    AnalysisManager nested = *this;
    nested.analyses = adbg::tool::nestAnalyses(&analyses, op);
    return nested;
  }
  /// Preserves no analysis.
  ADBG_STAND_IN void invalidateAll() {
    SmallSet none(set + adbg::Layout::offsets.hasChecks);
    adbg::tool::invalidateAnalyses(analyses, none.asTool());
  }

private:
  /// An empty llvm::SmallPtrSet like another one:
  ///
  ///   until LLVM 20  the elements inside, and the elements; the room, and how
  ///                  many are used, and were erased
  ///   since then     the elements; the room, and how many are used, and were
  ///                  erased; whether they are inside. From LLVM 24 on without
  ///                  the erased ones
  ///
  /// In builds with ABI-breaking checks, a count of its changes is in front.
  class SmallSet {
  public:
    explicit SmallSet(const uint64_t *like) {
      uint64_t *set = words + adbg::Layout::offsets.hasChecks;
      auto room = uint32_t(like[1]), used = uint32_t(like[1] >> 32);
      bool isOlder = !room || (room & (room - 1)) || used > room;
      set[0] = reinterpret_cast<uintptr_t>(elements);
      if (isOlder) {
        set[1] = set[0];
        set[2] = 2;
      } else {
        set[1] = 2;
        // Two fit inside: then the other one has the mark, too.
        constexpr uint64_t marks = uint64_t(1) << 32 | 1;
        set[2] = room == 2 ? like[2] & marks : marks;
      }
    }
    const void *asTool() const { return words; }

  private:
    uint64_t words[8] = {}, elements[2] = {};
  };

  void *analyses;
  const uint64_t *set;
};

/// The tool's: the functions that are used, in the order of their table.
class Pass {
public:
  virtual ~Pass() = default;
  virtual StringRef getName() const = 0;
  virtual void getDependentDialects(void *registry) const = 0;
  virtual StringRef getArgument() const = 0;
  virtual StringRef getDescription() const = 0;
  virtual LogicalResult initializeOptions(StringRef options,
                                          void *errorHandler) = 0;
  virtual void runOnOperation() = 0;

  ADBG_STAND_IN void printAsTextualPipeline(raw_ostream &os) {
    if (adbg::tool::printPipelinePretty)
      adbg::tool::printPipelinePretty(this, os, false);
    else if (adbg::tool::printPipeline)
      adbg::tool::printPipeline(this, os);
    else
      os << getArgument();
  }

  /// The operation that the pass runs on, and whether the pass has failed.
  struct State {
    struct {
      uintptr_t bits;
      bool getInt() const { return bits & 4; }
    } irAndPassFailed;
    AnalysisManager::Stored analysisManager;
  };
  /// The tool's std::optional, while the pass runs.
  struct Running {
    State state;
    explicit operator bool() const { return true; }
    const State *operator->() const { return &state; }
  };

private:
  TypeID passID;
  std::optional<StringRef> opName;

public:
  Running passState;
};
static_assert(sizeof(Pass) == 56);

/// The action that runs a pass.
class PassExecutionAction : public tracing::Action {
public:
  static tracing::ActionClass &known() {
    static tracing::ActionClass known("pass-execution");
    return known;
  }
  static bool classof(const Action *action) {
    return LLVM_LIKELY(!adbg::facts::passOfAction.isRefuted()) &&
           known().contains(*action);
  }
  const Pass &getPass() const { return pass; }

private:
  const Pass &pass;
};

} // namespace mlir
