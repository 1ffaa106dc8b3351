//===- Attributes.cpp - Classes of attributes, and locations --------------===//

#include "layout/Layout.h"
#include "support/Memo.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

AttributeClass AttributeStorage::classOf() const {
  static thread_local KeyMemo<AttributeClass> known;
  uint32_t offset = Layout::offsets.className;
  if (LLVM_UNLIKELY(!offset))
    return AttributeClass::Other;
  return known.get(abstract, [&] {
    auto *name = reinterpret_cast<const StringRef *>(
        reinterpret_cast<const char *>(abstract) + offset);
    return llvm::StringSwitch<AttributeClass>(*name)
        .Case("builtin.string", AttributeClass::String)
        .Case("builtin.dictionary", AttributeClass::Dictionary)
        .Case("builtin.file_line_range", AttributeClass::FileLocation)
        .Case("builtin.file_line_loc", AttributeClass::FileLocation)
        .Case("builtin.fused_loc", AttributeClass::FusedLocation)
        .Case("builtin.call_site_loc", AttributeClass::CallSiteLocation)
        .Case("builtin.name_loc", AttributeClass::NameLocation)
        .Case("builtin.opaque_loc", AttributeClass::OpaqueLocation)
        .Case("builtin.unknown_loc", AttributeClass::UnknownLocation)
        .Default(AttributeClass::Other);
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
