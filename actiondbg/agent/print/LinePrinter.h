//===- LinePrinter.h - One operation as text --------------------*- C++ -*-===//
//
// MLIR's own printer numbers all values of a function before it prints one
// operation. At a stop a few lines are needed at once: this printer writes the
// keys of values, and leaves out what is in regions.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_LINEPRINTER_H
#define ACTIONDBG_LINEPRINTER_H

#include "interpose/Versions.h"
#include "print/PrintedOperation.h"
#include "print/ValueKeys.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace adbg {

class LinePrinter : public mlir::OpAsmPrinter {
public:
  LinePrinter(mlir::MLIRContext *context, const Identities &ids,
              const LineStyle &style);

  PrintedOperation print(mlir::Operation *op);
  /// Returns `^bb1(%x: i32):`.
  std::string label(mlir::Block *block);

  // OpAsmPrinter
  llvm::raw_ostream &getStream() const override { return os; }
  void printNewline() override;
  void increaseIndent() override { indent += 2; }
  void decreaseIndent() override { indent -= 2; }
  void printFloat(const llvm::APFloat &value) override;
  void printType(mlir::Type type) override;
  void printAttribute(mlir::Attribute attribute) override;
  void printAttributeWithoutType(mlir::Attribute attribute) override;
  void
  printNamedAttribute(mlir::NamedAttribute attribute) ADBG_OVERRIDE_SINCE_21;
  llvm::LogicalResult printAlias(mlir::Attribute) override;
  llvm::LogicalResult printAlias(mlir::Type) override;
  void printKeywordOrString(llvm::StringRef keyword) override;
  void printString(llvm::StringRef string) override;
  void printSymbolName(llvm::StringRef name) override;
  void
  printResourceHandle(const mlir::AsmDialectResourceHandle &handle) override;
  void printOptionalLocationSpecifier(mlir::Location) override {}
  void printRegionArgument(mlir::BlockArgument argument,
                           llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                           bool omitType = false) override;
  void printOperand(mlir::Value value) override;
  void printOperand(mlir::Value value, llvm::raw_ostream &to) override;
  void printSuccessor(mlir::Block *successor) override;
  void printSuccessorAndUseList(mlir::Block *successor,
                                mlir::ValueRange operands) override;
  void
  printOptionalAttrDict(llvm::ArrayRef<mlir::NamedAttribute> attributes,
                        llvm::ArrayRef<llvm::StringRef> elided = {}) override;
  void printOptionalAttrDictWithKeyword(
      llvm::ArrayRef<mlir::NamedAttribute> attributes,
      llvm::ArrayRef<llvm::StringRef> elided = {}) override;
  void printCustomOrGenericOp(mlir::Operation *op) override;
  void printGenericOp(mlir::Operation *op, bool printOpName = true) override;
  void printRegion(mlir::Region &region, bool printEntryBlockArgs = true,
                   bool printBlockTerminators = true,
                   bool printEmptyBlock = false) override;
  void shadowRegionArgs(mlir::Region &region, mlir::ValueRange names) override;
  void printAffineMapOfSSAIds(mlir::AffineMapAttr map,
                              mlir::ValueRange operands) override;
  void printAffineExprOfSSAIds(mlir::AffineExpr expression,
                               mlir::ValueRange dimensions,
                               mlir::ValueRange symbols) override;

protected:
  llvm::LogicalResult pushCyclicPrinting(const void *) override;
  void popCyclicPrinting() override {}

private:
  using AttributeList = llvm::ArrayRef<mlir::NamedAttribute>;

  void printResults(mlir::Operation *op);
  bool printAttributes(AttributeList attributes,
                       llvm::ArrayRef<llvm::StringRef> elided,
                       llvm::StringRef before);
  void printExpression(mlir::AffineExpr expression, mlir::ValueRange dimensions,
                       mlir::ValueRange symbols);
  void writeKey(llvm::raw_ostream &to, const std::string &key,
                mlir::Region *region, llvm::StringRef hint);

  const Identities &ids;
  LineStyle style;
  mlir::AsmState state;
  std::string text;
  mutable llvm::raw_string_ostream os;
  unsigned indent = 0;
  PrintedOperation printed;
  struct Known {
    bool isCustom;
    llvm::SmallVector<ResultGroup, 2> groups;
  };
  const Known &knownOf(mlir::Operation *op);
  std::string hintOf(mlir::BlockArgument argument);
  mlir::Value shadowOf(mlir::BlockArgument argument);
  llvm::DenseMap<mlir::Operation *, Known> known;
  /// The value whose name an argument is printed with: emitc.expression prints
  /// its arguments as its operands.
  llvm::DenseMap<mlir::Value, mlir::Value> shadows;
  llvm::SmallPtrSet<mlir::Operation *, 4> shadowing;
};

} // namespace adbg

#endif // ACTIONDBG_LINEPRINTER_H
