//===- ActionHandler.cpp - How actions reach the agent --------------------===//
//
// Replaces interpose/ActionHandler.cpp in the portable agent. A handler is a
// std::function, whose layout depends on the tool's C++ library; the function
// that calls it has arguments of a known layout.
//
//===----------------------------------------------------------------------===//

#include "interpose/ActionHandler.h"
#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "portable/Layout.h"
#include "portable/interpose/Contexts.h"

using namespace mlir;
using namespace adbg;

#define ADBG_HAS_HANDLER "_ZN4mlir11MLIRContext16hasActionHandlerEv"
#define ADBG_EXECUTE                                                           \
  "_ZN4mlir11MLIRContext21executeActionInternalEN4llvm12function_"             \
  "refIFvvEEERKNS_7tracing6ActionE"

using HasHandler = bool(MLIRContext *);
using Execute = void(MLIRContext *, llvm::function_ref<void()>,
                     const tracing::Action &);

void adbg::handleActions(MLIRContext *context, unsigned) {
  noteContext(context);
}

bool adbg::isIRKnown() { return Layout::isDecided(); }

/// Learns the layouts from the IR of an action, until they are known.
static void learn(const tracing::Action &action) {
  if (LLVM_LIKELY(Layout::isDecided()))
    return;
  llvm::ArrayRef<IRUnit> units = action.getContextIRUnits();
  if (units.empty())
    return;
  AgentHeap agentHeap;
  if (auto *op = llvm::dyn_cast_if_present<Operation *>(units[0]))
    Layout::calibrate(op);
}

/// Returns the number of a context; one that is older than the agent in this
/// program is observed from now on.
static unsigned numberOf(MLIRContext *context) {
  unsigned number = Contexts::all().numberOf(context);
  if (LLVM_LIKELY(number != Contexts::unknown) || !Engine::isLibrary)
    return number;
  observeContext(context);
  return Contexts::all().numberOf(context);
}

extern "C++" {

ADBG_INTERPOSE(bool, hasActionHandler, ADBG_HAS_HANDLER, MLIRContext *self) {
  static auto *next = real<HasHandler>(ADBG_HAS_HANDLER);
  return Engine::get().isAttached() || Engine::isLibrary || next(self);
}

ADBG_INTERPOSE(void, executeAction, ADBG_EXECUTE, MLIRContext *self,
               llvm::function_ref<void()> run, const tracing::Action &action) {
  static auto *next = real<Execute>(ADBG_EXECUTE);
  static auto *hasHandler = real<HasHandler>(ADBG_HAS_HANDLER);
  noteContext(self);
  learn(action);
  runAction(numberOf(self), action, [&] {
    if (hasHandler(self))
      next(self, run, action);
    else
      run();
  });
}

} // extern "C++"
