//===- IR.cpp - Classes of attributes, units and diagnostics --------------===//

#include "layout/Layout.h"
#include "support/Memo.h"
#include "support/Symbols.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"

#include <dlfcn.h>

using namespace mlir;
using llvm::StringRef;

namespace adbg {

static constexpr std::pair<StringRef, AttributeClass> classes[] = {
    {"builtin.string", AttributeClass::String},
    {"builtin.dictionary", AttributeClass::Dictionary},
    {"builtin.file_line_range", AttributeClass::FileLocation},
    {"builtin.file_line_loc", AttributeClass::FileLocation},
    {"builtin.fused_loc", AttributeClass::FusedLocation},
    {"builtin.call_site_loc", AttributeClass::CallSiteLocation},
    {"builtin.name_loc", AttributeClass::NameLocation},
    {"builtin.opaque_loc", AttributeClass::OpaqueLocation},
    {"builtin.unknown_loc", AttributeClass::UnknownLocation}};

AttributeClass AttributeStorage::classOf() const {
  static thread_local KeyMemo<AttributeClass> known;
  uint32_t offset = Layout::offsets.className;
  if (LLVM_UNLIKELY(!offset))
    return AttributeClass::Other;
  return known.get(abstract, [&] {
    auto *name = memberAt<const StringRef>(abstract, offset);
    for (const auto &[text, kind] : classes)
      if (*name == text)
        return kind;
    return AttributeClass::Other;
  });
}

} // namespace adbg

namespace mlir {

void IRUnit::print(raw_ostream &os, const OpPrintingFlags &flags) const {
  if (auto *op = llvm::dyn_cast_if_present<Operation *>(*this))
    return op->print(os, flags);
  if (adbg::tool::printUnit && adbg::Layout::offsets.canPrint)
    return adbg::tool::printUnit(this, os, flags.asArgument());
  os << (llvm::isa_and_present<Region *>(*this) ? "Region" : "Block");
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

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

using Delete = void (*)(void *);

/// Returns the function by which the tool's MLIR deletes what it has allocated.
/// A sanitizer tells such functions apart, and an allocator takes no memory of
/// another one. `own`: a function that MLIR's file has, or one of a library
/// that it is linked with; those are called by name, so that the first library
/// that is loaded replaces them.
static Delete deleteOfTool(Delete own, const char *symbol) {
  if (own && adbg::Place::of(reinterpret_cast<const void *>(own)).header ==
                 adbg::Place::of(&adbg::tool::voidID).header)
    return own;
  auto *first = reinterpret_cast<Delete>(dlsym(RTLD_DEFAULT, symbol));
  return first ? first : free;
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
  static ADBG_OF_INSTANCE Delete deleteArray = nullptr, deleteOne = nullptr;
  if (LLVM_UNLIKELY(!deleteArray || !deleteOne)) {
    deleteOne = deleteOfTool(&adbg::tool::deleteOne, "_ZdlPv");
    deleteArray = deleteOfTool(&adbg::tool::deleteArray, "_ZdaPv");
  }
  for (size_t i = 0; i < count; ++i)
    deleteArray(begin[i]);
  if (isVector)
    deleteOne(begin);
  else
    free(begin);
}

ArrayRef<const Diagnostic *> Diagnostic::getNotes() const {
  // As for the texts: a vector of at most so many bytes.
  constexpr uintptr_t most = 1 << 16;
  auto bytesOf = [](void *const *vector) {
    return reinterpret_cast<uintptr_t>(vector[1]) -
           reinterpret_cast<uintptr_t>(vector[0]);
  };
  // From LLVM 24 on, a SmallVector with room for two numbers is before them.
  void *const *notes = bytesOf(others) <= most ? others : others + 4;
  if (!notes[0] || bytesOf(notes) > most)
    return {};
  auto *begin = static_cast<const Diagnostic *const *>(notes[0]);
  size_t count = bytesOf(notes) / sizeof(void *);
  for (size_t i = 0; i < count; ++i) {
    struct {
      uintptr_t location;
      DiagnosticSeverity severity;
    } head;
    const Diagnostic *note = nullptr;
    if (!adbg::readMemory(begin + i, &note, sizeof(void *)) ||
        !adbg::readMemory(note, &head, sizeof(head)) || !head.location ||
        head.severity != DiagnosticSeverity::Note)
      return {};
  }
  return {begin, count};
}

std::string Diagnostic::check() const {
  using Kind = DiagnosticArgument::DiagnosticArgumentKind;
  for (const DiagnosticArgument &argument : getArguments())
    if (argument.getKind() > Kind::Unsigned)
      return "an argument of a diagnostic has no known kind";
  std::string text = str(), expected;
  llvm::raw_string_ostream os(expected);
  if (adbg::tool::printDiagnostic && adbg::Layout::offsets.canPrint)
    adbg::tool::printDiagnostic(this, os);
  else if (adbg::tool::printDiagnosticWith && adbg::Layout::offsets.canPrint)
    adbg::tool::printDiagnosticWith(this, os, {});
  else
    expected = text;
  if (expected != text)
    return "the diagnostic " + expected + " is read as " + text;
  return text.empty() ? adbg::Fact::nothingTold : "";
}

std::string Diagnostic::str() const { return adbg::printed(*this); }

EmittedError::operator LogicalResult() const {
  // An llvm::Twine: two parts, and what they are: a C string, and nothing.
  struct {
    const char *first;
    uint64_t others[3];
    uint8_t kinds[2];
  } twine = {text.c_str(), {}, {3, 1}};
  if (adbg::tool::emitError && adbg::tool::reportDiagnostic) {
    adbg::tool::InFlight inFlight =
        adbg::tool::emitError(loc.getAsOpaquePointer(), &twine);
    adbg::tool::reportDiagnostic(&inFlight);
  }
  return failure();
}

__thread ScopedDiagnosticHandler *ScopedDiagnosticHandler::innermost;

bool ScopedDiagnosticHandler::handle(Diagnostic &diagnostic) {
  for (auto *one = innermost; one; one = one->outer)
    if (succeeded(one->handler(diagnostic)))
      return true;
  return false;
}

} // namespace mlir
