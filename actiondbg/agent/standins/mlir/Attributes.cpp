//===- Attributes.cpp - Classes of attributes, and locations --------------===//

#include "layout/Layout.h"
#include "support/Memo.h"

#include "mlir/IR/AsmState.h"

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
    auto *name = reinterpret_cast<const StringRef *>(
        reinterpret_cast<const char *>(abstract) + offset);
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

} // namespace mlir
