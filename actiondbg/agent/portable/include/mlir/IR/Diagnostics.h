//===- Diagnostics.h - Diagnostics ------------------------------*- C++ -*-===//
//
// A diagnostic is made here for a reason's text: the tool's function that gives
// the reason appends to it.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_MLIR_DIAGNOSTICS_H
#define ACTIONDBG_MLIR_DIAGNOSTICS_H

#include "mlir/IR/MLIRContext.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir {

enum class DiagnosticSeverity { Note, Warning, Error, Remark };

class DiagnosticArgument {
public:
  enum class DiagnosticArgumentKind {
    Attribute,
    Double,
    Integer,
    String,
    Type,
    Unsigned
  };

  DiagnosticArgumentKind getKind() const { return kind; }
  StringRef getAsString() const { return text; }
  void print(raw_ostream &os) const;

private:
  DiagnosticArgumentKind kind;
  union {
    double real;
    const void *pointer;
    int64_t integer;
    uint64_t natural;
    StringRef text;
  };
};

class Diagnostic {
public:
  Diagnostic(Location loc, DiagnosticSeverity severity)
      : loc(loc), severity(severity) {}
  ~Diagnostic();
  Diagnostic(const Diagnostic &) = delete;

  Location getLocation() const { return loc; }
  DiagnosticSeverity getSeverity() const { return severity; }
  ArrayRef<DiagnosticArgument> getArguments() const {
    return {arguments.data(), arguments.size()};
  }
  void print(raw_ostream &os) const {
    for (const DiagnosticArgument &argument : getArguments())
      argument.print(os);
  }
  std::string str() const;

private:
  Location loc;
  DiagnosticSeverity severity;
  SmallVector<DiagnosticArgument, 4> arguments;
  /// The texts that the arguments refer to, as the tool's std::vector: begin,
  /// end and capacity; from LLVM 24 on a SmallVector: begin, size and capacity.
  void *texts[3] = {};
  /// Notes, and in later versions more: vectors, empty at first.
  void *others[32] = {};
};

class DiagnosticEngine;

/// A diagnostic of the tool that may not be reported yet.
class InFlightDiagnostic {
public:
  InFlightDiagnostic() = delete;

  /// Null once it is reported.
  DiagnosticEngine *owner;

  /// The diagnostic, while there is an owner.
  struct Held {
    explicit operator bool() const { return true; }
    Diagnostic &operator*() { return *reinterpret_cast<Diagnostic *>(this); }
    void *first;
  } impl;
};

/// Handles the diagnostics of this thread. The tool's handlers are not used:
/// whatever replaces DiagnosticEngine::emit asks handle() first.
class ScopedDiagnosticHandler {
public:
  template <typename Handler>
  ScopedDiagnosticHandler(MLIRContext *, Handler handler)
      : handler([handler](Diagnostic &one) { return handler(one); }),
        outer(std::exchange(innermost, this)) {}
  ~ScopedDiagnosticHandler() { innermost = outer; }
  ScopedDiagnosticHandler(const ScopedDiagnosticHandler &) = delete;

  /// Returns whether a handler takes the diagnostic.
  static bool handle(Diagnostic &diagnostic);

private:
  static __thread ScopedDiagnosticHandler *innermost;

  std::function<LogicalResult(Diagnostic &)> handler;
  ScopedDiagnosticHandler *outer;
};

} // namespace mlir

#endif // ACTIONDBG_MLIR_DIAGNOSTICS_H
