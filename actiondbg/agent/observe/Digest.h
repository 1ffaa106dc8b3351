//===- Digest.h - Detecting modified IR by digests --------------*- C++ -*-===//
//
// A pass may set operands and attributes without a rewriter and without a
// notification: such a change is found by comparing digests. Digests contain
// addresses of uniqued objects and of values; they are comparable within one
// process only.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"

namespace adbg {

/// The modifiable parts of one operation, without its regions.
struct Shape {
  uint64_t attributes = 0, operands = 0, results = 0, successors = 0,
           location = 0, blocks = 0, block = 0;

  static Shape of(Operation *op);
  bool operator==(const Shape &other) const = default;
  /// Names the parts that differ: "operands, attributes"; empty if none does.
  std::string differences(const Shape &other) const;
};

/// Digests `root` and everything nested in it.
uint64_t digest(Operation *root);

/// The digests of single operations at one time.
class Snapshot {
public:
  /// The number of operations near another one: more than most functions have.
  static constexpr size_t mostNear = 1024;

  /// All operations in `root`. `withBlocks`: their blocks are a part of them.
  static Snapshot of(Operation *root, bool withBlocks = true);
  /// The operations that an action on `op` may modify: those around it, and the
  /// nearest of the others in `root`, by nesting, by use and in their blocks.
  static Snapshot near(Operation *op, Operation *root);
  /// The operations around `root`, without their blocks.
  static Snapshot outside(Operation *root);
  /// The operations that are alive and differ now.
  std::vector<Operation *> modified() const;

private:
  struct Entry {
    Operation *op;
    uint32_t id;
    uint64_t digest;
  };
  void add(Operation *op);
  uint64_t digestOf(Operation *op) const;

  bool withBlocks = true;
  std::vector<Entry> entries;
};

} // namespace adbg
