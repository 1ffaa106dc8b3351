//===- Layout.h - Where MLIR's objects keep their parts ---------*- C++ -*-===//
//
// The parts of MLIR's objects that no exported function returns. What is the
// same in all versions since LLVM 19 is a member of its class; what is not is
// chosen by the first IR that is seen, and confirmed before it is used.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "layout/Facts.h"
#include "layout/Storage.h"

namespace adbg {

/// Offsets in bytes. The defaults are those of LLVM 19 to 23.
struct Offsets {
  /// Of a region: its size, its list of blocks and its parent.
  uint32_t regionSize = 24, regionBlocks = 0, regionParent = 16;
  /// Of a block: its list of operations and its vector of arguments.
  uint32_t blockOperations = 32, blockArguments = 48;
  /// Of a class of attributes: its name; 0 until it is found.
  uint32_t className = 0;
  /// Whether this is a build with ABI-breaking checks, whose lists know their
  /// end.
  bool hasChecks = false;
  /// Cleared when a check fails: then an operation seems to have no regions, no
  /// neighbours and no region around it; or no operands and no results.
  bool hasRegions = true, hasValues = true;
  /// Likewise: then nothing is printed; or a printed operation has no line.
  bool canPrint = true, hasLines = true;
};

/// The layouts of the tool's MLIR.
class Layout {
public:
  static Offsets offsets;

  /// What is checked.
  enum class Check : uint8_t {
    /// Operations and their names.
    Operations,
    /// Regions, blocks, their lists and parents.
    Regions,
    /// Results, operands, block arguments and uses.
    Values,
    /// Classes of attributes and the files, lines and columns of locations.
    Locations,
    /// The tool's printer, and its streams.
    Printing,
    /// The lines of operations that the printer notes.
    Lines
  };
  static constexpr unsigned checks = 6;

  /// Chooses the offsets that the IR around `op` confirms, and proves in forks
  /// that the tool's functions can be used with it. Reads no address that may
  /// be invalid. Does nothing once it is decided; an empty module decides
  /// nothing.
  static void calibrate(Operation *op);
  static bool isDecided() { return decided.load(std::memory_order_acquire); }
  /// Whether the attributes of a class are stored as is known here, see
  /// Facts.h.
  static bool provesStorage(AttributeClass kind,
                            const AttributeStorage *attribute) {
    Fact *fact = factOf(kind);
    return !fact || LLVM_LIKELY(fact->isProved()) ||
           triesStorage(*fact, kind, attribute);
  }
  /// Returns the operation around a block by the tool's function, without
  /// layouts; null if it cannot be asked.
  static Operation *parentOf(Block *block);
  /// Whether a check passed.
  static bool passed(Check check) {
    return isDecided() && failures[static_cast<unsigned>(check)].empty();
  }
  /// The name of a check, and the capability that it is made for; empty if it
  /// is for several. In the order of Check.
  static constexpr struct {
    StringRef name, capability;
  } about[checks] = {{"operations", ""},    {"regions", "cursor"},
                     {"values", "values"},  {"locations", "location"},
                     {"printing", "print"}, {"lines", ""}};
  static StringRef capabilityOf(Check check) {
    return about[static_cast<unsigned>(check)].capability;
  }
  /// Returns why a check failed: the end of a sentence; empty if it passed.
  static const std::string &failure(Check check) {
    return failures[static_cast<unsigned>(check)];
  }

private:
  static void choose(Operation *op);
  static void fail(Check check, std::string why);
  static void switchOff();
  static Fact *factOf(AttributeClass kind) {
    // In the order of AttributeClass.
    static Fact *const all[] = {nullptr,
                                &facts::string,
                                &facts::dictionary,
                                &facts::fileLocation,
                                &facts::fusedLocation,
                                &facts::callSiteLocation,
                                &facts::nameLocation,
                                &facts::opaqueLocation,
                                nullptr};
    static_assert(std::size(all) ==
                  static_cast<size_t>(AttributeClass::UnknownLocation) + 1);
    return all[static_cast<unsigned>(kind)];
  }
  static bool triesStorage(Fact &fact, AttributeClass kind,
                           const AttributeStorage *attribute);

  static std::atomic<bool> decided;
  static std::string failures[checks];
};

template <typename Stored> const Stored *AttributeStorage::as() const {
  return Layout::provesStorage(Stored::of, this)
             ? static_cast<const Stored *>(this)
             : nullptr;
}

/// Returns what is so many bytes behind the begin of an object.
template <typename T> T *memberAt(const void *object, uint32_t offset) {
  auto *address = static_cast<const char *>(object) + offset;
  return reinterpret_cast<T *>(const_cast<char *>(address));
}

/// Copies memory that need not be readable; returns whether it is.
bool readMemory(const void *from, void *to, size_t size);

} // namespace adbg
