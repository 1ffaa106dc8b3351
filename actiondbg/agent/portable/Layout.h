//===- Layout.h - Where MLIR's objects keep their parts ---------*- C++ -*-===//
//
// The parts of MLIR's objects that no exported function returns. What is the
// same in all versions since LLVM 19 is a constant of its class; what is not is
// learned from the first IR that is seen, and confirmed before it is used.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_PORTABLE_LAYOUT_H
#define ACTIONDBG_PORTABLE_LAYOUT_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace adbg {

/// Offsets in bytes. The values before calibration are those of LLVM 19 to 22.
struct Offsets {
  /// Of a region: its size, the first node of its list of blocks, its parent.
  uint32_t regionSize = 24, regionBlocks = 0, regionParent = 16;
  /// Of a block: the list of operations as an object, its first node, and the
  /// vector of arguments.
  uint32_t blockList = 32, blockOperations = 32, blockArguments = 48;
  /// Of a class of attributes: its name.
  uint32_t className = 144;
};

/// The layouts of the tool's MLIR.
class Layout {
public:
  static Offsets offsets;

  /// The checks, each of which needs those before it.
  enum class Check : uint8_t { Operations, Regions, Names, Values, Locations };
  static constexpr unsigned checks = 5;

  /// Learns the layouts from IR, or confirms them. Never follows a pointer that
  /// is not readable. Until `root` holds enough IR (a block with two
  /// operations), what cannot be decided stays open, and a later call decides
  /// it.
  static void calibrate(mlir::Operation *root);
  /// Whether all checks are decided.
  static bool isDecided();
  /// Whether a check passed.
  static bool passed(Check check) { return states[index(check)] == Passed; }
  /// Returns why a check did not pass: a sentence; empty if it did.
  static std::string failure(Check check);

private:
  enum State : uint8_t { Open, Passed, Failed };
  static unsigned index(Check check) { return static_cast<unsigned>(check); }
  static State states[checks];
  static std::string failures[checks];
};

/// Copies memory that need not be mapped; returns false if it is not.
bool readMemory(const void *from, void *to, size_t size);

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_LAYOUT_H
