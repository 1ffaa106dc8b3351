//===- Versions.h - What differs between LLVM versions ----------*- C++ -*-===//
//
// The one place that knows which LLVM this agent is compiled against: the
// mangled names of what is interposed, and the API that changed. A new version
// of LLVM should need a change here and nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_VERSIONS_H
#define ACTIONDBG_VERSIONS_H

#include "mlir/IR/Location.h"
#include "llvm/Config/llvm-config.h"

#if LLVM_VERSION_MAJOR < 19
#error "actiondbg needs LLVM 19 or newer"
#endif

// Mangled names, the same from LLVM 19 to 22, but for LogicalResult's namespace
// which does not enter them.
#define ADBG_CONTEXT_CTOR "_ZN4mlir11MLIRContextC1ENS0_9ThreadingE"
#define ADBG_CONTEXT_CTOR_REGISTRY                                             \
  "_ZN4mlir11MLIRContextC1ERKNS_15DialectRegistryENS0_9ThreadingE"
#define ADBG_DISABLE_THREADING "_ZN4mlir11MLIRContext21disableMultithreadingEb"
#define ADBG_REGISTER_HANDLER                                                  \
  "_ZN4mlir11MLIRContext21registerActionHandlerESt8functionIFvN4llvm12"        \
  "function_refIFvvEEERKNS_7tracing6ActionEEE"
#define ADBG_FOLD                                                              \
  "_ZN4mlir9Operation4foldEN4llvm8ArrayRefINS_9AttributeEEERNS1_15"            \
  "SmallVectorImplINS_12OpFoldResultEEE"
#define ADBG_FOLD_RESULTS                                                      \
  "_ZN4mlir9Operation4foldERN4llvm15SmallVectorImplINS_12OpFoldResultEEE"
#define ADBG_DESTROY "_ZN4mlir9Operation7destroyEv"
#define ADBG_REPLACE_VALUES                                                    \
  "_ZN4mlir12RewriterBase9replaceOpEPNS_9OperationENS_10ValueRangeE"
#define ADBG_REPLACE_OP "_ZN4mlir12RewriterBase9replaceOpEPNS_9OperationES2_"
#define ADBG_FROZEN_PATTERNS                                                   \
  "_ZN4mlir23FrozenRewritePatternSetC1EONS_17RewritePatternSetEN4llvm8"        \
  "ArrayRefINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEESB_"

namespace adbg {

/// A place in a file; lines and columns count from 1.
struct FilePlace {
  mlir::StringAttr file;
  unsigned line;
  unsigned column;
  unsigned lastLine;
};

/// Returns the file place that `loc` itself is, if it is one.
inline std::optional<FilePlace> asFilePlace(mlir::Location loc) {
#if LLVM_VERSION_MAJOR >= 20
  // Since LLVM 20 a FileLineColLoc is a range of one line and column.
  if (auto range = llvm::dyn_cast<mlir::FileLineColRange>(loc))
    return FilePlace{range.getFilename(), range.getStartLine(),
                     range.getStartColumn(), range.getEndLine()};
#else
  if (auto point = llvm::dyn_cast<mlir::FileLineColLoc>(loc))
    return FilePlace{point.getFilename(), point.getLine(), point.getColumn(),
                     point.getLine()};
#endif
  return std::nullopt;
}

} // namespace adbg

#endif // ACTIONDBG_VERSIONS_H
