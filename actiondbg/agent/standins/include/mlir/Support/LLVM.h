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

using llvm::ArrayRef;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_if_present;
using llvm::failed;
using llvm::failure;
using llvm::function_ref;
using llvm::isa;
using llvm::isa_and_present;
using llvm::LogicalResult;
using llvm::raw_ostream;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using llvm::succeeded;
using llvm::success;

class AsmState;
class Attribute;
class Block;
class ConversionTarget;
class Dialect;
class FrozenRewritePatternSet;
class IRMapping; // only passed on
class MLIRContext;
class Operation;
class OpPrintingFlags;
class Pass;
class PassManager;
class Pattern;
class PatternApplicator;
class Region;
class Type;
class TypeConverter;
class Value;

} // namespace mlir
