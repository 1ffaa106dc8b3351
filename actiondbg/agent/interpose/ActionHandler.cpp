//===- ActionHandler.cpp - How actions reach the agent --------------------===//
//
// A context has one action handler: the agent's, which calls the tool's.
//
//===----------------------------------------------------------------------===//

#include "interpose/ActionHandler.h"
#include "interpose/Interpose.h"
#include "support/AgentHeap.h"

#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <mutex>

using namespace mlir;
using namespace adbg;

using Handler = MLIRContext::HandlerTy;
using RegisterHandler = void(MLIRContext *, Handler);

/// The action handler that the tool registered with each context.
static std::mutex handlersMutex;
static llvm::DenseMap<MLIRContext *, std::shared_ptr<Handler>> &toolHandlers() {
  static auto *handlers =
      new llvm::DenseMap<MLIRContext *, std::shared_ptr<Handler>>;
  return *handlers;
}

static void runWithToolHandler(const Handler &handler,
                               llvm::function_ref<void()> run,
                               const tracing::Action &action) {
  if (handler)
    handler(run, action);
  else
    run();
}

void adbg::handleActions(MLIRContext *context, unsigned number) {
  static Original<RegisterHandler> install(ADBG_REGISTER_HANDLER);
  if (!install) {
    llvm::errs() << "actiondbg: the tool was linked without the function that "
                    "registers an action handler; it runs unobserved\n";
    return;
  }
  AgentHeap agentHeap;
  auto toolHandler = std::make_shared<Handler>();
  {
    std::lock_guard<std::mutex> lock(handlersMutex);
    toolHandlers()[context] = toolHandler;
  }
  install(context, [toolHandler, number](llvm::function_ref<void()> run,
                                         const tracing::Action &action) {
    runAction(number, action,
              [&] { runWithToolHandler(*toolHandler, run, action); });
  });
}

extern "C++" {

ADBG_INTERPOSE(void, registerHandler, ADBG_REGISTER_HANDLER, MLIRContext *self,
               Handler handler) {
  static Original<RegisterHandler> next(ADBG_REGISTER_HANDLER);
  std::lock_guard<std::mutex> lock(handlersMutex);
  auto it = toolHandlers().find(self);
  if (it == toolHandlers().end())
    return next(self, std::move(handler));
  *it->second = std::move(handler);
}

} // extern "C++"
