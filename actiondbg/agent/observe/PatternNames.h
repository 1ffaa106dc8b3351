//===- PatternNames.h - Names of patterns -----------------------*- C++ -*-===//
//
// A pattern that is a function (RewritePatternSet::add of a function, as for
// `hasCanonicalizeMethod`) and one that is added as an object have no debug
// name. Such a pattern is named by its function, or else by its class; both are
// found in the symbol tables.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "engine/Frame.h"
#include "mlir/IR/PatternMatch.h"

namespace adbg {

/// The names of a pattern without a debug name.
struct FoundName {
  /// `mlir::cf::BranchOp::canonicalize`. Where there is no symbol, the place of
  /// the function or the class: `math.tanh@libMLIR.so+0x1234`. For a pattern of
  /// PDL, the same as `unnamed`.
  std::string name;
  /// `<unnamed, root cf.br, benefit 1>`, which is accepted in place of `name`.
  std::string unnamed;
};

/// Returns the name of the class with a vtable; empty if there is no symbol.
std::string classOf(const void *const *vtable);
/// Returns the name of a function, or else its symbol; empty without a symbol.
std::string nameOfFunction(const void *function);

/// What a pattern without a debug name is made of: enough to find its name
/// after its end.
struct UnnamedPattern {
  const void *const *vtable = nullptr;
  const void *function = nullptr;
  std::string unnamed;

  explicit UnnamedPattern(const Pattern &pattern);
  bool operator<(const UnnamedPattern &other) const {
    return std::tie(vtable, function, unnamed) <
           std::tie(other.vtable, other.function, other.unnamed);
  }
  /// The names live as long as the process. Safe for concurrent threads.
  const FoundName &find() const;
};

/// Returns the names of a pattern without a debug name. Fast for patterns that
/// the thread has seen.
const FoundName &foundNameOf(const Pattern &pattern);

/// Returns the debug name or the found one; never empty.
inline StringRef nameOf(const Pattern &pattern) {
  StringRef name = pattern.getDebugName();
  return LLVM_LIKELY(!name.empty()) ? name : foundNameOf(pattern).name;
}

/// The names of patterns, the number of runs of each pass, and the number of
/// actions of each tag.
class KnownNames {
public:
  /// Assigns an action its number among the actions of its tag, and a pass its
  /// number among the runs of the pass.
  void number(Frame &frame);
  void addPattern(const Pattern &pattern);
  /// Returns the names of patterns. To name a pattern without a debug name
  /// takes time, and is done here.
  const TextSet &patternNames();
  size_t bytes() const;

  TextMap<uint64_t> passes;
  /// The number of their runs that have begun, adaptors aside.
  uint64_t passRuns = 0;
  /// The number of actions of each uncommon tag.
  TextMap<uint64_t> tags;

private:
  TextSet patterns;
  std::set<UnnamedPattern> unnamed;
  uint64_t patternActions = 0, folds = 0, passActions = 0;
};

} // namespace adbg
