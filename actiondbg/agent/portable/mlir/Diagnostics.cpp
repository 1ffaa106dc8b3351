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

__thread ScopedDiagnosticHandler *ScopedDiagnosticHandler::innermost;

bool ScopedDiagnosticHandler::handle(Diagnostic &diagnostic) {
  for (auto *one = innermost; one; one = one->outer)
    if (succeeded(one->handler(diagnostic)))
      return true;
  return false;
}

} // namespace mlir
