//===- LinePrinter.cpp - One operation as text ----------------------------===//

#include "print/LinePrinter.h"
#include "support/Traits.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

namespace adbg {

static OpPrintingFlags flagsOf(const LineStyle &style) {
  OpPrintingFlags flags;
  flags.useLocalScope().assumeVerified();
  if (style.elide >= 0)
    flags.elideLargeElementsAttrs(style.elide)
        .elideLargeResourceString(style.elide);
  return flags;
}

LinePrinter::LinePrinter(MLIRContext *context, const Identities &ids,
                         const LineStyle &style)
    : ids(ids), style(style), state(context, flagsOf(style)), os(text) {}

PrintedOperation LinePrinter::print(Operation *op) {
  printed = PrintedOperation();
  text.clear();
  printResults(op);
  printCustomOrGenericOp(op);
  printed.parts.push_back(std::move(text));
  text.clear();
  return std::move(printed);
}

//===----------------------------------------------------------------------===//
// Values and blocks
//===----------------------------------------------------------------------===//

const LinePrinter::Known &LinePrinter::knownOf(Operation *op) {
  auto [entry, isNew] = known.try_emplace(op);
  if (isNew) {
    bool complete = isPrintable(op);
    entry->second = {complete && !style.generic, resultGroups(op, complete)};
  }
  return entry->second;
}

void LinePrinter::writeKey(llvm::raw_ostream &to, const std::string &key,
                           Region *region, StringRef hint) {
  Operation *parent = region ? region->getParentOp() : nullptr;
  to << PrintedOperation::mark << key << " "
     << (parent ? ids.of(scopeOf(parent)) : 0) << " " << hint
     << PrintedOperation::mark;
}

std::string LinePrinter::hintOf(BlockArgument argument) {
  Region *region = argument.getOwner()->getParent();
  Operation *parent = region ? region->getParentOp() : nullptr;
  if (!parent)
    return "arg"; // a conversion replaced the block by one with other types
  std::string hint = argument.getOwner()->isEntryBlock() ? "arg" : "";
  auto names = dyn_cast<OpAsmOpInterface>(parent);
  if (names && knownOf(parent).isCustom)
    names.getAsmBlockArgumentNames(*region, [&](Value value, StringRef name) {
      if (value == argument)
        hint = name.str();
    });
  return hint;
}

void LinePrinter::shadowRegionArgs(Region &region, ValueRange names) {
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    if (name && name != argument)
      shadows[argument] = name;
}

Value LinePrinter::shadowOf(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  // Only isolated operations may shadow; functions have no operands.
  if (!parent || !parent->getNumOperands() || !isIsolated(parent))
    return nullptr;
  if (shadowing.insert(parent).second) {
    LinePrinter printer(parent->getContext(), ids, style);
    printer.shadowing = shadowing;
    printer.print(parent);
    shadows.insert(printer.shadows.begin(), printer.shadows.end());
  }
  return shadows.lookup(argument);
}

void LinePrinter::printOperand(Value value) { printOperand(value, os); }

void LinePrinter::printOperand(Value value, llvm::raw_ostream &to) {
  if (!value) {
    to << "<<NULL VALUE>>";
    return;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (Value shadow = shadowOf(argument))
      return printOperand(shadow, to);
    Block *block = argument.getOwner();
    return writeKey(to, keyOf(ids, argument), block->getParent(),
                    hintOf(argument));
  }
  auto result = cast<OpResult>(value);
  unsigned number = result.getResultNumber();
  for (const ResultGroup &group : knownOf(result.getOwner()).groups) {
    if (number < group.first || number >= group.first + group.size)
      continue;
    writeKey(to, keyOf(ids, result.getOwner()->getResult(group.first)),
             result.getParentRegion(), group.hint);
    if (group.size > 1)
      to << "#" << number - group.first;
  }
}

void LinePrinter::printResults(Operation *op) {
  bool isFirst = true;
  for (const ResultGroup &group : knownOf(op).groups) {
    os << (std::exchange(isFirst, false) ? "" : ", ");
    writeKey(os, keyOf(ids, op->getResult(group.first)), op->getParentRegion(),
             group.hint);
    if (group.size > 1)
      os << ":" << group.size;
  }
  if (!isFirst)
    os << " = ";
}

void LinePrinter::printRegionArgument(BlockArgument argument,
                                      AttributeList attributes, bool omitType) {
  printOperand(argument);
  if (!omitType) {
    os << ": ";
    printType(argument.getType());
  }
  printOptionalAttrDict(attributes);
}

void LinePrinter::printSuccessor(Block *successor) {
  Region *region = successor ? successor->getParent() : nullptr;
  if (!region) {
    os << "<<UNLINKED BLOCK>>";
    return;
  }
  int64_t number = 0;
  for (Block &block : *region) {
    if (&block == successor)
      break;
    ++number;
  }
  os << "^bb" << number;
}

void LinePrinter::printSuccessorAndUseList(Block *successor,
                                           ValueRange operands) {
  printSuccessor(successor);
  if (operands.empty())
    return;
  os << "(";
  llvm::interleaveComma(operands, os,
                        [&](Value value) { printOperand(value); });
  os << " : ";
  llvm::interleaveComma(operands, os, [&](Value value) {
    if (value)
      printType(value.getType());
  });
  os << ")";
}

std::string LinePrinter::label(Block *block) {
  text.clear();
  printSuccessor(block);
  if (block->getNumArguments()) {
    os << "(";
    llvm::interleaveComma(
        block->getArguments(), os,
        [&](BlockArgument argument) { printRegionArgument(argument); });
    os << ")";
  }
  os << ":";
  return std::exchange(text, "");
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The dialect whose prefix is left out where `op` is.
static StringRef defaultDialect(Operation *op) {
  Operation *parent = op->getParentOp();
  if (!parent)
    return "builtin";
  auto names = dyn_cast<OpAsmOpInterface>(parent);
  return names ? names.getDefaultDialect() : StringRef("");
}

void LinePrinter::printCustomOrGenericOp(Operation *op) {
  if (!knownOf(op).isCustom)
    return printGenericOp(op);
  if (op->isRegistered())
    return op->getName().printAssembly(op, *this, defaultDialect(op));
  Dialect *dialect = op->getDialect();
  auto print = dialect ? dialect->getOperationPrinter(op) : nullptr;
  if (!print)
    return printGenericOp(op);
  StringRef name = op->getName().getStringRef();
  if (name.count('.') == 1)
    name.consume_front((defaultDialect(op) + ".").str());
  os << name;
  print(op, *this);
}

void LinePrinter::printGenericOp(Operation *op, bool printOpName) {
  if (printOpName) {
    os << '"';
    llvm::printEscapedString(op->getName().getStringRef(), os);
    os << '"';
  }
  os << "(";
  llvm::interleaveComma(op->getOperands(), os,
                        [&](Value value) { printOperand(value); });
  os << ")";
  if (op->getNumSuccessors()) {
    os << "[";
    llvm::interleaveComma(op->getSuccessors(), os,
                          [&](Block *block) { printSuccessor(block); });
    os << "]";
  }
  Attribute properties =
      op->getPropertiesStorageSize() ? op->getPropertiesAsAttribute() : nullptr;
  if (properties) {
    os << " <";
    printAttribute(properties);
    os << ">";
  }
  if (op->getNumRegions()) {
    os << " (";
    llvm::interleaveComma(op->getRegions(), os, [&](Region &region) {
      printRegion(region, true, true, true);
    });
    os << ")";
  }
  printOptionalAttrDict((properties ? op->getDiscardableAttrDictionary()
                                    : op->getAttrDictionary())
                            .getValue());
  os << " : (";
  llvm::interleaveComma(op->getOperands(), os, [&](Value value) {
    if (value)
      printType(value.getType());
    else
      os << "<<NULL TYPE>>";
  });
  os << ")";
  printArrowTypeList(op->getResultTypes());
}

void LinePrinter::printRegion(Region &region, bool printEntryBlockArgs,
                              bool printBlockTerminators,
                              bool printEmptyBlock) {
  os << "{";
  printed.parts.push_back(std::move(text));
  text.clear();
  printed.regions.push_back({&region, printEntryBlockArgs,
                             printBlockTerminators, printEmptyBlock,
                             indent / 2});
  os << "}";
}

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

void LinePrinter::printType(Type type) {
  if (type)
    type.print(os, state);
  else
    os << "<<NULL TYPE>>";
}

void LinePrinter::printAttribute(Attribute attribute) {
  if (attribute)
    attribute.print(os, state);
  else
    os << "<<NULL ATTRIBUTE>>";
}

void LinePrinter::printAttributeWithoutType(Attribute attribute) {
  if (attribute)
    attribute.print(os, state, /*elideType=*/true);
  else
    os << "<<NULL ATTRIBUTE>>";
}

void LinePrinter::printNamedAttribute(NamedAttribute attribute) {
  printKeywordOrString(attribute.getName().strref());
  if (isa<UnitAttr>(attribute.getValue()))
    return;
  os << " = ";
  printAttribute(attribute.getValue());
}

bool LinePrinter::printAttributes(AttributeList attributes,
                                  llvm::ArrayRef<StringRef> elided,
                                  StringRef before) {
  bool isFirst = true;
  for (NamedAttribute attribute : attributes) {
    if (llvm::is_contained(elided, attribute.getName().strref()))
      continue;
    os << (std::exchange(isFirst, false) ? before : StringRef(", "));
    printNamedAttribute(attribute);
  }
  if (!isFirst)
    os << "}";
  return !isFirst;
}

void LinePrinter::printOptionalAttrDict(AttributeList attributes,
                                        llvm::ArrayRef<StringRef> elided) {
  printAttributes(attributes, elided, " {");
}

void LinePrinter::printOptionalAttrDictWithKeyword(
    AttributeList attributes, llvm::ArrayRef<StringRef> elided) {
  printAttributes(attributes, elided, " attributes {");
}

llvm::LogicalResult LinePrinter::printAlias(Attribute) { return failure(); }
llvm::LogicalResult LinePrinter::printAlias(Type) { return failure(); }
llvm::LogicalResult LinePrinter::pushCyclicPrinting(const void *) {
  return success();
}

void LinePrinter::printFloat(const llvm::APFloat &value) {
  llvm::SmallString<32> digits;
  if (value.isFinite()) {
    value.toString(digits, /*FormatPrecision=*/6, /*FormatMaxPadding=*/0,
                   /*TruncateZero=*/false);
    if (!llvm::APFloat(value.getSemantics(), digits).bitwiseIsEqual(value)) {
      digits.clear();
      value.toString(digits);
    }
  }
  if (!digits.str().contains('.')) {
    digits.clear();
    value.bitcastToAPInt().toString(digits, /*Radix=*/16, /*Signed=*/false,
                                    /*formatAsCLiteral=*/true);
  }
  os << digits;
}

static bool isKeyword(StringRef word) {
  return !word.empty() && (llvm::isAlpha(word[0]) || word[0] == '_') &&
         llvm::all_of(word, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
         });
}

void LinePrinter::printKeywordOrString(StringRef keyword) {
  if (isKeyword(keyword))
    os << keyword;
  else
    printString(keyword);
}

void LinePrinter::printString(StringRef string) {
  os << '"';
  llvm::printEscapedString(string, os);
  os << '"';
}

void LinePrinter::printSymbolName(StringRef name) {
  os << "@";
  printKeywordOrString(name);
}

void LinePrinter::printResourceHandle(const AsmDialectResourceHandle &handle) {
  auto *names =
      handle.getDialect()->getRegisteredInterface<OpAsmDialectInterface>();
  if (names)
    os << names->getResourceKey(handle);
}

void LinePrinter::printNewline() {
  os << "\n";
  os.indent(indent);
}

//===----------------------------------------------------------------------===//
// Affine expressions
//===----------------------------------------------------------------------===//

/// Prints an expression with values in the place of `d0` and `s0`.
void LinePrinter::printExpression(AffineExpr expression, ValueRange dimensions,
                                  ValueRange symbols) {
  std::string plain;
  llvm::raw_string_ostream(plain) << expression;
  for (size_t i = 0; i < plain.size();) {
    char kind = plain[i];
    size_t end = i + 1;
    while (end < plain.size() && llvm::isDigit(plain[end]))
      ++end;
    bool isName = (kind == 'd' || kind == 's') && end > i + 1 &&
                  (i == 0 || !llvm::isAlnum(plain[i - 1]));
    unsigned number = 0;
    ValueRange values = kind == 'd' ? dimensions : symbols;
    if (isName &&
        !StringRef(plain).slice(i + 1, end).getAsInteger(10, number) &&
        number < values.size()) {
      if (kind == 's')
        os << "symbol(";
      printOperand(values[number]);
      if (kind == 's')
        os << ")";
      i = end;
    } else {
      os << plain[i++];
    }
  }
}

void LinePrinter::printAffineMapOfSSAIds(AffineMapAttr map,
                                         ValueRange operands) {
  unsigned count = map.getValue().getNumDims();
  llvm::interleaveComma(map.getValue().getResults(), os, [&](AffineExpr one) {
    printExpression(one, operands.take_front(count),
                    operands.drop_front(count));
  });
}

void LinePrinter::printAffineExprOfSSAIds(AffineExpr expression,
                                          ValueRange dimensions,
                                          ValueRange symbols) {
  printExpression(expression, dimensions, symbols);
}

} // namespace adbg
