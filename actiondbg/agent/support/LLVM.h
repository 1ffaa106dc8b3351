//===- LLVM.h - LLVM's and MLIR's names in namespace adbg -------*- C++ -*-===//

#pragma once

#include "mlir/Support/LLVM.h"

namespace llvm {
class raw_fd_ostream;
class raw_string_ostream;
namespace json {
class Array;
class Object;
class Value;
} // namespace json
} // namespace llvm

namespace adbg {

using namespace mlir; // which has the names of LLVM that MLIR uses
using Json = llvm::json::Value;
using llvm::raw_fd_ostream;
using llvm::raw_string_ostream;
using llvm::json::Array;
using llvm::json::Object;

} // namespace adbg
