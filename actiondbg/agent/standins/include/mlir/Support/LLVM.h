//===- LLVM.h - LLVM's names in namespace mlir ------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Compiler.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir {

using namespace llvm; // all that is used of it

class AsmState;
class Attribute;
class Block;
class ConversionTarget;
class Dialect;
class DictionaryAttr;
class FrozenRewritePatternSet;
class IRMapping; // only passed on
class Location;
class MLIRContext;
class Operation;
class OperationName;
class OpPrintingFlags;
class Pass;
class PassManager;
class Pattern;
class PatternApplicator;
class Region;
class StringAttr;
class Type;
class TypeID;
class TypeConverter;
class Value;

} // namespace mlir
