//===- LeftOut.cpp - Functions that the tool lacks ------------------------===//

#include "layout/LeftOut.h"
#include "layout/ToolFunctions.h"

namespace adbg {

template <typename Function> static const void *functionAt(Function *function) {
  return reinterpret_cast<const void *>(function);
}

template <typename Function>
static const void *either(Function *one, Function *other) {
  return functionAt(one ? one : other);
}

std::string whyLeftOut(StringRef capability) {
  // The places are known when the tool's MLIR is bound, and not before.
  const struct {
    const char *capabilities;
    const void *function;
    const char *name;
  } functions[] = {
      {"edit alternatives", functionAt(&tool::parsePipeline),
       "mlir::parsePassPipeline"},
      {"edit alternatives", functionAt(&tool::makeManager),
       "mlir::PassManager::PassManager(OperationName)"},
      {"edit alternatives", functionAt(&tool::endManager),
       "mlir::PassManager::~PassManager"},
      {"edit alternatives", functionAt(&tool::runManager),
       "mlir::PassManager::run"},
      {"edit alternatives", functionAt(&tool::enterThreads),
       "mlir::MLIRContext::enterMultiThreadedExecution"},
      {"edit alternatives", functionAt(&tool::exitThreads),
       "mlir::MLIRContext::exitMultiThreadedExecution"},
      {"edit alternatives", functionAt(&tool::invalidateAnalyses),
       "mlir::detail::NestedAnalysisMap::invalidate"},
      {"edit", functionAt(&tool::nestAnalyses), "mlir::AnalysisManager::nest"},
      {"edit", functionAt(&tool::parseSource), "mlir::parseSourceString"},
      {"edit", functionAt(&tool::makeModule), "mlir::ModuleOp::create"},
      {"edit", functionAt(&tool::unknownLocation), "mlir::UnknownLoc::get"},
      {"edit", functionAt(&tool::setAttributes), "mlir::Operation::setAttrs"},
      {"edit", functionAt(&tool::setOperands), "mlir::Operation::setOperands"},
      {"edit", functionAt(&tool::removeOperation), "mlir::Operation::remove"},
      {"edit", functionAt(&tool::eraseOperation), "mlir::Operation::erase"},
      {"edit", functionAt(&tool::dropReferencesOf),
       "mlir::Operation::dropAllReferences"},
      {"edit", functionAt(&tool::dropUsesOf),
       "mlir::Operation::dropAllDefinedValueUses"},
      {"edit", functionAt(&tool::addArgument), "mlir::Block::addArgument"},
      {"edit", functionAt(&tool::eraseArguments),
       "mlir::Block::eraseArguments"},
      {"edit", functionAt(&tool::eraseBlock), "mlir::Block::erase"},
      {"edit", either(&tool::moveOperation, &tool::moveOperationWithChecks),
       "mlir::Operation::moveBefore"},
      {"edit", either(&tool::moveBlock, &tool::moveBlockWithChecks),
       "mlir::Block::moveBefore"},
      {"legalizations",
       tool::actionOf ? functionAt(&tool::actionOf)
                      : functionAt(&tool::legalityOf),
       "mlir::ConversionTarget::getOpAction"},
      {"legalizations", functionAt(&tool::isIllegal),
       "mlir::ConversionTarget::isIllegal"},
  };
  std::string missing;
  for (const auto &need : functions)
    if (!need.function && StringRef(need.capabilities).contains(capability))
      missing += (missing.empty() ? "" : ", ") + std::string(need.name);
  return missing.empty() ? "" : "the linker left out " + missing;
}

} // namespace adbg
