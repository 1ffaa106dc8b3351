//===- Diagnostics.cpp - Diagnostics --------------------------------------===//

#include "mlir/IR/Diagnostics.h"

#include <cstdlib>

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
  auto begin = reinterpret_cast<char **>(texts[0]);
  auto end = reinterpret_cast<uintptr_t>(texts[1]);
  auto bytes = end - reinterpret_cast<uintptr_t>(begin);
  // Of a SmallVector, the second word is its size and its capacity, which is
  // far from the address in the first.
  constexpr uintptr_t most = 1 << 16;
  bool isVector = bytes <= most && texts[2] >= texts[1];
  size_t count = isVector ? bytes / sizeof(char *) : uint32_t(end);
  for (size_t i = 0; i < count; ++i)
    delete[] begin[i];
  if (isVector)
    ::operator delete(begin);
  else
    free(begin);
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
