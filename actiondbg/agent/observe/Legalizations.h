//===- Legalizations.h - What dialect conversions tried ---------*- C++ -*-===//
//
// Written into a file on request, so that the front end can explain why an
// operation was not legalized: see docs/protocol.md. Only what the end of a
// conversion asks for is written; the rest is dropped as it is legalized.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "match/Spec.h"
#include "mlir/IR/PatternMatch.h"
#include "observe/Identity.h"
#include "support/OwnFiles.h"
#include "llvm/Support/JSON.h"

namespace adbg {

/// Returns the name of a type converter's class; empty if it says nothing.
std::string nameOf(const TypeConverter &converter);

/// Returns the type converter of a conversion pattern; null if it has none, or
/// if the pattern is perhaps another one.
const TypeConverter *converterOf(const Pattern &pattern);

/// A type, as text, and how it differs.
struct SimilarType {
  const char *how;
  std::string text;
};

/// Returns types that are like a type of the builtin dialect. Some may not be
/// valid, such as memref<4xtuple<>>. Of other dialects there are no such types.
std::vector<SimilarType> similarTypes(StringRef type);

class TypeReasons {
public:
  /// Begins to ask; `false` ends it.
  void ask(bool on) {
    asked = on;
    said.clear();
  }
  bool areAsked() const { return LLVM_UNLIKELY(asked); }
  /// Whether types are being converted to find reasons.
  bool isProbing() const { return probing || listening; }
  /// Types are being converted to listen to it; `false` ends it.
  void listen(bool on) { listening = on; }

  /// Runs a function of the tool, and returns its output of -debug; empty
  /// unless reasons are asked for and the tool was built with assertions.
  std::string overhear(function_ref<void()> run) const;
  /// Runs a conversion of a type, and keeps what it prints so if it fails: it
  /// does so once for each type and converter.
  void listen(const TypeConverter &converter, Type type,
              function_ref<bool()> convert);

  /// Adds to an event the reasons why a type does not convert: `said`, the
  /// debug output of the conversion; `part`, the part of the type that does not
  /// convert; and `similar`, types that convert.
  void describe(const TypeConverter &converter, Type type, MLIRContext *context,
                Object &event);

private:
  bool converts(const TypeConverter &converter, Type type) const;
  Type failingPart(const TypeConverter &converter, Type type,
                   unsigned depth) const;

  std::map<std::pair<const void *, const void *>, std::string> said;
  bool asked = false, probing = false, listening = false;
};

/// The operations that were not legalized and are asked for, beside those that
/// made a conversion fail.
struct WantedOperations {
  std::vector<int64_t> ids;
  std::optional<Glob> name;
  /// Write about this many of them: the first ones, and the first few of each
  /// name.
  int64_t most = 0;

  bool isEmpty() const { return ids.empty() && !name; }
  bool contains(Operation *op, uint32_t id);
};

class Legalizations {
public:
  LogFile file;

  /// `reasons`: whether to find out why types do not convert.
  std::error_code open(const std::string &path, WantedOperations wanted,
                       bool reasons);
  /// Closes the file; returns false if a write failed.
  bool close();

  // --- conversions ---

  void beginConversion(const ConversionTarget &target,
                       const FrozenRewritePatternSet &patterns,
                       ArrayRef<Operation *> roots, bool isFull,
                       uint64_t ordinal);
  void endConversion(bool isFailed);
  /// Forgets the running conversions, which the tool leaves without an end.
  void leave() { conversions.clear(); }
  /// Whether a conversion runs whose legalizations are wanted.
  bool isTracing() const { return LLVM_UNLIKELY(!conversions.empty()); }

  // --- in a conversion ---

  void beginOperation(Operation *op);
  void endOperation(Operation *op, bool isLegalized);
  /// Converts the types that the driver will convert for a pattern, and listens
  /// to what that prints: a converter prints nothing for a type in its cache.
  void listenToTypes(Operation *op, const Pattern &pattern);
  /// `ordinal`: of the action that applies the pattern. `isRefused`: it is not
  /// applied, because it is being applied already.
  void beginPattern(const Pattern &pattern, uint64_t ordinal, bool isRefused);
  void endPattern(StringRef result);
  /// Ends a pattern that did not match.
  void failPattern(Operation *op, const Pattern &pattern);
  /// Why a pattern does not match, in its own words.
  void gaveReason(const Diagnostic &diagnostic);
  /// An error of the conversion, or anything that a pattern reports.
  void diagnosed(const Diagnostic &diagnostic);
  void typeFailed(const TypeConverter &converter, Type type);

  TypeReasons typeReasons;

private:
  /// Makes an event. Most are dropped, so that they are described only when
  /// they are written.
  using Event = std::function<Object()>;

  /// An operation that is being legalized.
  struct Open {
    std::vector<const Pattern *> tried;
    bool isTrying = false;
    /// Whether the pattern that is tried said why it fails.
    bool hasSaidWhy = false;
    /// What the driver said instead, which is less than the type says.
    std::string ofDriver;
  };
  /// What is known of an operation around others that was not legalized. By
  /// ids, here and below: the operations may be gone at the end.
  struct Kept {
    uint32_t id;
    std::string text;
  };
  struct Conversion {
    const ConversionTarget *target = nullptr;
    const FrozenRewritePatternSet *patterns = nullptr;
    MLIRContext *context = nullptr;
    std::vector<OperationHandle> roots;
    Object head;
    std::string names;
    /// What was tried for the newest operation that no pattern generated.
    std::vector<Event> events;
    /// The operations around it, if it was not legalized.
    std::vector<uint32_t> parents;
    std::vector<Kept> around;
    /// Those that were legalized; those for which a pattern was tried.
    std::unordered_set<uint32_t> legalized, tried;
    /// The newest that was not.
    OperationHandle failed;
    /// The id of the first operation that the conversion makes.
    uint32_t firstId = 0;
    std::vector<Open> open;
    /// The number of wanted operations of each name that are not written.
    TextMap<int64_t> untold;
    /// The count of them that the newest operation is in, or null.
    int64_t *newestUntold = nullptr;
    bool isCut = false, hasHead = false;
  };

  void add(Event event);
  void add(Object event);
  static std::string linesOf(std::vector<Event> &events);
  void reason(const Diagnostic &diagnostic);
  void tryTypes(Operation *op, const Pattern &pattern);
  void writeUnresolved(const Diagnostic &diagnostic);
  void addNeighbours(Object &event, const Conversion &conversion,
                     Operation *cast) const;
  Json blockOf(const Conversion &conversion, BlockArgument argument) const;
  Array users(const Conversion &conversion, Operation *cast) const;
  Object neighbour(const Conversion &conversion, Operation *op) const;
  void write(Conversion &conversion, StringRef text);
  void writeWanted(Conversion &conversion, StringRef name);
  void writeNeeding(Conversion &conversion);
  void writeLeft(Conversion &conversion);
  Array untried(const Conversion &conversion, Operation *op,
                const Open &open) const;

  WantedOperations wanted;
  int64_t written = 0;
  TextMap<int64_t> writtenOfName;
  /// Those of which the file tells.
  std::vector<OperationHandle> casts;
  std::vector<Conversion> conversions;
};

} // namespace adbg
