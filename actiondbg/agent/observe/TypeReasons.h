//===- TypeReasons.h - Why a type does not convert --------------*- C++ -*-===//

#pragma once

#include "mlir/IR/PatternMatch.h"
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

} // namespace adbg
