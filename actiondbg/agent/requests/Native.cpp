//===- Native.cpp - Requests about native debuggers -----------------------===//
//
// Source of the layouts: the Itanium C++ ABI, "Virtual Table Layout" and
// "Member Function Pointers".
//
//===----------------------------------------------------------------------===//

#include "engine/Engine.h"
#include "mlir/Pass/Pass.h"
#include "requests/Request.h"
#include "support/Symbols.h"

namespace adbg {

using Functions = std::vector<const void *>;
using Table = const void *const *;

static Table tableOf(const void *object) {
  Table table;
  memcpy(static_cast<void *>(&table), object, sizeof(table));
  return table;
}

/// Returns the index of a virtual function in its class's table.
template <class Member> static size_t indexOf(Member member) {
  uintptr_t words[2];
  static_assert(sizeof(member) == sizeof(words));
  memcpy(words, &member, sizeof(words));
  return (words[0] - 1) / sizeof(void *);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Whether a function belongs to one of MLIR's classes that patterns derive
/// from, and which only forward the call.
static bool isForwarding(StringRef name) {
  for (StringRef base :
       {"mlir::RewritePattern::", "mlir::ConversionPattern::",
        "mlir::OpConversionPattern<", "mlir::OpInterfaceConversionPattern<",
        "mlir::OpTraitConversionPattern<", "mlir::ConvertOpToLLVMPattern<",
        "mlir::ConvertOpInterfaceToLLVMPattern<",
        "mlir::detail::OpOrInterfaceRewritePatternBase<"})
    if (name.starts_with(base))
      return true;
  return false;
}

static Functions functionsOf(const Pattern &pattern) {
  UnnamedPattern parts(pattern);
  if (!parts.vtable)
    return {};
  if (pattern.getDebugName().empty() && parts.function)
    return {parts.function};
  // Behind the two destructors; without RewritePattern::anchor.
  constexpr size_t first = 2, anchor = 3, most = 32;
  Functions all, own;
  for (size_t i = first; i < most && Place::of(parts.vtable[i]).isCode; ++i) {
    const void *function = parts.vtable[i];
    // An unreachable function may be empty, and begin where another does.
    if (i == anchor || llvm::is_contained(all, function))
      continue;
    all.push_back(function);
    if (!isForwarding(readableName(symbolAt(function))))
      own.push_back(function);
  }
  return own.empty() ? all : own;
}

//===----------------------------------------------------------------------===//
// Passes and folds
//===----------------------------------------------------------------------===//

namespace {
struct PassAccess : Pass {
  static size_t index() { return indexOf(&PassAccess::runOnOperation); }
};

struct NameAccess : OperationName {
  explicit NameAccess(OperationName name) : OperationName(name) {}
  const void *hook() {
    return tableOf(getImpl())[indexOf(&InterfaceConcept::foldHook)];
  }
};
} // namespace

Functions functionsOf(const Frame &frame) {
  if (frame.kind == Kind::Pass && !frame.isAdaptor())
    return {tableOf(frame.pass())[PassAccess::index()]};
  if (frame.kind == Kind::Pattern)
    return functionsOf(*frame.pattern());
  if (Operation *op = frame.kind == Kind::Fold ? frame.op() : nullptr)
    return {NameAccess(op->getName()).hook()};
  return {};
}

/// Sends the standard output and errors of this process to a file.
static bool sendOutput(const std::string &path) {
  int file = open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    return false;
  bool isDone = dup2(file, 1) >= 0 && dup2(file, 2) >= 0;
  close(file);
  return isDone;
}

static Object describeFunction(const void *function) {
  std::string symbol = symbolAt(function);
  std::string name = readableName(symbol);
  return Object{{"address", int64_t(reinterpret_cast<intptr_t>(function))},
                {"name", symbol.empty() ? Json(nullptr)
                                        : Json(name.empty() ? symbol : name)},
                {"place", Place::of(function).offsetOf(function)}};
}

struct PrepareNativeArguments {
  /// The file or terminal for the output of this process.
  std::string output;
  explicit PrepareNativeArguments(Fields &fields)
      : output(fields.text("output")) {}
};

/// native/prepare: readies a replica for a native debugger.
static Answer<Object> prepareNative(Engine &engine,
                                    PrepareNativeArguments &arguments) {
  if (engine.forks.role != Role::Replica)
    return RequestError(NoAnswer, "only a replica can be debugged");
  if (!sendOutput(arguments.output))
    return RequestError(FileNotWritten,
                        "the file '" + arguments.output +
                            "' cannot be written: " + strerror(errno));
  // Otherwise only an ancestor may attach, where Yama restricts it.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  Array functions;
  if (engine.stops.isBeforeInnermost())
    for (const void *function : functionsOf(*engine.innermost))
      functions.push_back(describeFunction(function));
  return Object{{"functions", std::move(functions)}};
}
ADBG_REQUEST("native/prepare", prepareNative)

} // namespace adbg
