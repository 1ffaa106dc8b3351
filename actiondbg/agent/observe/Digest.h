//===- Digest.h - Telling whether IR was modified ---------------*- C++ -*-===//
//
// Passes may set operands and attributes with no rewriter and no notice: that
// is found by comparing digests. Digests are of addresses of uniqued things and
// of values, and are compared within one process only.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_DIGEST_H
#define ACTIONDBG_DIGEST_H

#include "mlir/IR/Operation.h"
#include <string>
#include <vector>

namespace adbg {

class Identities;

/// What can be modified of one operation, what is in its regions aside.
struct Shape {
  uint64_t attributes = 0, operands = 0, results = 0, successors = 0,
           location = 0, blocks = 0, block = 0;

  static Shape of(mlir::Operation *op);
  bool operator==(const Shape &other) const;
  /// Names what differs: "operands, attributes"; empty if nothing does.
  std::string differences(const Shape &other) const;
};

/// Digests `root` and all that is in it.
uint64_t digest(mlir::Operation *root);

/// The digest of each operation in `root`, by its number.
struct Snapshot {
  mlir::Operation *root = nullptr;
  uint32_t rootId = 0;
  std::vector<std::pair<uint32_t, uint64_t>> operations;

  static Snapshot of(mlir::Operation *root, const Identities &ids);
  /// The operations that were there before and are different now.
  std::vector<mlir::Operation *> modified(const Identities &ids) const;
};

} // namespace adbg

#endif // ACTIONDBG_DIGEST_H
