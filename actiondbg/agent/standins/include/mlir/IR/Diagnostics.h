//===- Diagnostics.h - Diagnostics ------------------------------*- C++ -*-===//
//
// A diagnostic is made here for a reason's text: the tool's function that gives
// the reason appends to it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/OperationSupport.h"

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

  /// Returns why what is read is not what the tool reads; empty if it is.
  std::string check() const;

  Location getLocation() const { return loc; }
  /// A remark, which says nothing, where diagnostics of the tool are not read.
  DiagnosticSeverity getSeverity() const {
    return adbg::facts::diagnostic.isRefuted() ? DiagnosticSeverity::Remark
                                               : severity;
  }
  ArrayRef<DiagnosticArgument> getArguments() const {
    if (adbg::facts::diagnostic.isRefuted())
      return {};
    return {arguments.data(), arguments.size()};
  }
  void print(raw_ostream &os) const {
    for (const DiagnosticArgument &argument : getArguments())
      argument.print(os);
  }
  std::string str() const;

  /// None where they are not found.
  ArrayRef<const Diagnostic *> getNotes() const;

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

/// An error that is emitted as soon as it is converted to a failure.
class EmittedError {
public:
  EmittedError(Location loc, StringRef text) : loc(loc), text(text) {}

  EmittedError &operator<<(StringRef more) {
    text += more;
    return *this;
  }
  operator LogicalResult() const;

private:
  Location loc;
  std::string text;
};
inline EmittedError emitError(Location loc, StringRef text) {
  return EmittedError(loc, text);
}

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
