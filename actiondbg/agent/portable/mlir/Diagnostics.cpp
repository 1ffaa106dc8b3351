//===- Diagnostics.cpp - Diagnostics --------------------------------------===//

#include "mlir/IR/Diagnostics.h"

namespace mlir {

void DiagnosticArgument::print(raw_ostream &os) const {
  switch (kind) {
  case DiagnosticArgumentKind::Attribute:
    os << Attribute::getFromOpaquePointer(pointer);
    break;
  case DiagnosticArgumentKind::Double:
    os << real;
    break;
  case DiagnosticArgumentKind::Integer:
    os << integer;
    break;
  case DiagnosticArgumentKind::String:
    os << text;
    break;
  case DiagnosticArgumentKind::Type:
    os << "'" << Type::getFromOpaquePointer(pointer) << "'";
    break;
  case DiagnosticArgumentKind::Unsigned:
    os << natural;
    break;
  }
}

Diagnostic::~Diagnostic() {
  for (char **text = texts[0]; text != texts[1]; ++text)
    delete[] *text;
  ::operator delete(texts[0]);
}

std::string Diagnostic::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  os.flush();
  return text;
}

namespace {
using Call = LogicalResult(void *storage, Diagnostic &diagnostic);

/// The tool's llvm::unique_function, with a function that needs no destruction
/// in its inline storage.
struct ToolFunction {
  void *storage[3];
  uintptr_t callAndFlags;
  static constexpr uintptr_t isInline = 2;
};

struct alignas(8) TrivialCall {
  Call *call;
};
} // namespace

void ScopedDiagnosticHandler::begin(MLIRContext *context) {
  if (!context || !adbg::tool::engineOf || !adbg::tool::addHandler ||
      !adbg::tool::removeHandler)
    return;
  static constexpr TrivialCall call{
      [](void *storage, Diagnostic &diagnostic) -> LogicalResult {
        auto *self = *static_cast<ScopedDiagnosticHandler **>(storage);
        return self->handler(diagnostic);
      }};
  ToolFunction function{{this, nullptr, nullptr},
                        reinterpret_cast<uintptr_t>(&call) |
                            ToolFunction::isInline};
  engine = adbg::tool::engineOf(context);
  id = adbg::tool::addHandler(engine, &function);
}

ScopedDiagnosticHandler::~ScopedDiagnosticHandler() {
  if (engine)
    adbg::tool::removeHandler(engine, id);
}

} // namespace mlir
