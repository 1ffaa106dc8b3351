//===- AsmState.h - Names of values while printing --------------*- C++ -*-===//

#pragma once

#include "layout/ToolMap.h"
#include "mlir/IR/Unit.h"

namespace mlir {

/// Made by the tool, in more memory than it needs in any version.
class AsmState {
public:
  /// The lines of printed operations, filled by the tool.
  class LocationMap {
  public:
    using Map = adbg::ToolMap<Operation, std::pair<unsigned, unsigned>>;

    /// Returns null for an operation without a line.
    const Map::Entry *find(Operation *op) const {
      return adbg::Layout::offsets.hasLines ? map.find(op) : nullptr;
    }

    void *asTool() { return &map; }

  private:
    // Its entries are leaked.
    Map map;
  };

  /// The flags that the tool chose: the generic form for IR that is invalid.
  struct Flags {
    bool isGeneric;
    bool shouldPrintGenericOpForm() const { return isGeneric; }
  };

  ADBG_STAND_IN AsmState(Operation *op,
                         const OpPrintingFlags &flags = OpPrintingFlags(),
                         LocationMap *lines = nullptr)
      : isGeneric(flags.shouldPrintGenericOpForm()) {
    make(adbg::tool::makeState, op, flags, lines ? lines->asTool() : nullptr);
  }
  ADBG_STAND_IN AsmState(MLIRContext *context,
                         const OpPrintingFlags &flags = OpPrintingFlags())
      : isGeneric(flags.shouldPrintGenericOpForm()) {
    make(adbg::tool::makeContextState, context, flags, nullptr);
  }
  ADBG_STAND_IN ~AsmState() {
    if (!isEmpty && adbg::tool::endState)
      adbg::tool::endState(memory);
  }
  AsmState(const AsmState &) = delete;

  ADBG_STAND_IN Flags getPrinterFlags() const {
    if (isEmpty || !adbg::tool::flagsOfState || !adbg::tool::printsGeneric)
      return {isGeneric};
    return {adbg::tool::printsGeneric(adbg::tool::flagsOfState(memory))};
  }

  /// Returns null if the tool cannot make one of this kind.
  void *asTool() { return isEmpty ? nullptr : memory; }

private:
  template <typename Make, typename Of>
  ADBG_STAND_IN void make(Make *function, Of *of, const OpPrintingFlags &flags,
                          void *lines) {
    isEmpty = !function || !adbg::Layout::offsets.canPrint;
    if (!isEmpty)
      function(memory, of, flags.asTool(), lines, nullptr);
  }

  // 8 bytes in LLVM 19 to 22.
  alignas(16) char memory[128] = {};
  bool isGeneric;
  bool isEmpty = false;
};

inline void Operation::print(raw_ostream &os, AsmState &state) {
  if (state.asTool() && adbg::tool::printOperationIn)
    adbg::tool::printOperationIn(this, os, state.asTool());
}
inline void Block::print(raw_ostream &os, AsmState &state) {
  if (state.asTool() && adbg::tool::printBlockIn)
    adbg::tool::printBlockIn(this, os, state.asTool());
  else if (adbg::tool::printBlock && adbg::Layout::offsets.canPrint)
    adbg::tool::printBlock(this, os);
}
inline void Value::printAsOperand(raw_ostream &os, AsmState &state) const {
  if (state.asTool() && adbg::tool::printOperand)
    adbg::tool::printOperand(this, os, state.asTool());
  else if (adbg::tool::printOperandWith && adbg::Layout::offsets.canPrint)
    // Numbers the values anew each time.
    adbg::tool::printOperandWith(
        this, os, OpPrintingFlags().useLocalScope().assumeVerified().asTool());
}
inline void Attribute::print(raw_ostream &os, AsmState &state,
                             bool elideType) const {
  if (impl && state.asTool() && adbg::tool::printAttributeIn)
    adbg::tool::printAttributeIn(this, os, state.asTool(), elideType);
  else
    print(os, elideType);
}
inline void Type::print(raw_ostream &os, AsmState &state) const {
  if (impl && state.asTool() && adbg::tool::printTypeIn)
    adbg::tool::printTypeIn(this, os, state.asTool());
  else
    print(os);
}

} // namespace mlir
