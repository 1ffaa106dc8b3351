//===- ir_probe.cpp - What the agent's classes read -----------------------===//
//
// Preloaded into a tool: writes the IR at one of its actions. Compiled twice,
// with MLIR's headers and with the agent's own stand-ins for them: the output
// must be the same.
//
//===----------------------------------------------------------------------===//

#include "print/ValueKeys.h"
#include "support/Locations.h"
#include "support/Traits.h"

#include "mlir/IR/Action.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include <cstdlib>
#include <dlfcn.h>
#ifdef PROBE_OWN
#include "layout/Layout.h"
#endif

using namespace mlir;
using namespace adbg;

static void writeRanges(llvm::raw_ostream &os, Operation *op) {
  auto idOf = [&](Operation *one) { return one ? ids.of(one) : 0; };
  os << "  operands";
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    os << " " << operand.getOperandNumber() << ":";
    if (auto argument = dyn_cast<BlockArgument>(value))
      os << keyOf(argument);
    else
      os << keyOf(cast<OpResult>(value));
  }
  os << "\n  results";
  for (OpResult result : op->getResults()) {
    os << " " << result.getResultNumber() << ":" << result.getType() << ":"
       << (result.getOwner() == op) << ":";
    for (Operation *user : result.getUsers())
      os << idOf(user) << ",";
  }
  os << "\n  successors";
  for (Block *block : op->getSuccessors())
    os << " " << BlockKeys::all().of(block);
  os << "\n  around " << idOf(op->getParentOp()) << " "
     << idOf(op->getBlock() ? op->getPrevNode() : nullptr) << " "
     << idOf(op->getBlock() ? op->getNextNode() : nullptr) << "\n";
  for (Region &region : op->getRegions()) {
    os << "  region " << region.getRegionNumber() << " "
       << idOf(region.getParentOp());
    for (Block &block : region)
      os << " block " << block.isEntryBlock() << block.getNumArguments()
         << block.empty();
    os << "\n";
  }
}

static void writeOperation(llvm::raw_ostream &os, Operation *op) {
  os << "@" << ids.of(op) << " " << op->getName().getStringRef() << " "
     << op->isRegistered() << isConstantLike(op->getName()) << isSymbolTable(op)
     << isIsolated(op) << isTerminator(op) << isPrintable(op)
     << op->getName().hasInterface<SymbolOpInterface>() << "\n";
  writeRanges(os, op);
  os << "  location ";
  op->getLoc().print(os);
  if (auto place = firstPlace(op->getLoc()))
    os << " = " << place->file.getValue() << " " << place->line << " "
       << place->column << " " << place->lastLine
       << isStrictFileLineColLoc(op->getLoc());
  os << "\n  attributes " << op->getAttrDictionary() << " " << op->attrs << " "
     << op->getPropertiesStorageSize() << "\n";
  if (auto name = op->getAttrOfType<StringAttr>("sym_name"))
    os << "  symbol " << name.getValue() << "\n";
}

static void write(Operation *root) {
#ifdef PROBE_OWN
  Layout::calibrate(root);
  if (!Layout::isDecided())
    llvm::errs() << "the IR decides no layout\n";
  for (unsigned i = 0; i < Layout::checks; ++i)
    llvm::errs() << Layout::failure(static_cast<Layout::Check>(i));
#endif
  findTraits(root->getContext());
  std::error_code error;
  llvm::raw_fd_ostream os(getenv("PROBE_FILE"), error);
  root->walk<WalkOrder::PreOrder>([](Operation *op) { ids.created(op); });
  root->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { writeOperation(os, op); });
}

extern "C++" {
__attribute__((visibility("default"), used)) void
execute(MLIRContext *context, llvm::function_ref<void()> run,
        const tracing::Action
            &action) __asm__("_ZN4mlir11MLIRContext21executeActionInternalEN4"
                             "llvm12function_refIFvvEEERKNS_7tracing6ActionE");
void execute(MLIRContext *context, llvm::function_ref<void()> run,
             const tracing::Action &action) {
  using Execute =
      void(MLIRContext *, llvm::function_ref<void()>, const tracing::Action &);
  static auto *next = reinterpret_cast<Execute *>(
      dlsym(RTLD_NEXT, "_ZN4mlir11MLIRContext21executeActionInternalEN4llvm12"
                       "function_refIFvvEEERKNS_7tracing6ActionE"));
  static int left = atoi(getenv("PROBE_ACTION"));
  if (left-- == 0) {
    Operation *op = nullptr;
    IRUnit unit = action.getContextIRUnits()[0];
    if (auto *region = llvm::dyn_cast_if_present<Region *>(unit))
      op = region->getParentOp();
    else
      op = llvm::cast<Operation *>(unit);
    while (op->getParentOp())
      op = op->getParentOp();
    write(op);
  }
  next(context, run, action);
}
}
