//===- AsmState.h - Names of values while printing --------------*- C++ -*-===//

#pragma once

#include "layout/Layout.h"
#include "mlir/IR/Unit.h"

namespace adbg {

/// An llvm::DenseMap of the tool's, with addresses as keys and values of 8
/// bytes. What it contains tells its layout, which changed in LLVM 23:
///
///   until then  the entries; how many are used, were erased, and exist
///   since then  the entries; a bit for each that is used, behind them; how
///               many are used, and exist
///
/// In builds with ABI-breaking checks, a count of its changes is in front.
template <typename Key, typename Value> class ToolMap {
public:
  struct Entry {
    Key *first;
    Value second;
  };
  static_assert(sizeof(Entry) == 16);

  const Entry *find(const Key *key) const {
    const uint64_t *map = words + Layout::offsets.hasChecks;
    auto *entries = reinterpret_cast<const Entry *>(map[0]);
    auto *bits = reinterpret_cast<const uint32_t *>(map[1]);
    auto count = uint32_t(map[2]), newCount = uint32_t(map[2] >> 32);
    if (newCount && map[1] == reinterpret_cast<uintptr_t>(entries + newCount))
      return findAmong(entries, bits, newCount, key);
    return findAmong(entries, nullptr, count, key);
  }

private:
  /// Probes quadratically, to an empty key; or linearly, to an entry that is
  /// not used.
  static const Entry *findAmong(const Entry *entries, const uint32_t *bits,
                                uint32_t count, const Key *key) {
    if (!entries || !count || (count & (count - 1)))
      return nullptr;
    uint64_t address = reinterpret_cast<uintptr_t>(key);
    uint64_t mixed = address * 0xbf58476d1ce4e5b9;
    auto place = bits ? uint32_t(mixed ^ mixed >> 31)
                      : uint32_t(address >> 4) ^ uint32_t(address >> 9);
    for (uint32_t step = 1; step <= count; place += bits ? 1 : step, ++step) {
      uint32_t at = place & (count - 1);
      if (bits && !(bits[at / 32] >> at % 32 & 1))
        break;
      if (entries[at].first == key)
        return &entries[at];
      if (!bits && reinterpret_cast<uintptr_t>(entries[at].first) == empty)
        break;
    }
    return nullptr;
  }

  static constexpr uintptr_t empty = ~uintptr_t(0) << 12;

  /// All of the largest layout: the tool believes what it finds there.
  uint64_t words[4] = {};
};

} // namespace adbg

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
