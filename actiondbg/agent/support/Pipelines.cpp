//===- Pipelines.cpp - Pass pipelines that the agent runs -----------------===//

#include "support/Pipelines.h"
#include "interpose/Versions.h"
#include "support/PassFactories.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace adbg {

/// Returns the pipeline inside `NAME(...)`, if that is all of the text and NAME
/// is `anchor` or `any`; else the text.
static StringRef withoutAnchor(StringRef text, StringRef anchor) {
  text = text.trim();
  auto [name, rest] = text.split('(');
  if ((name.trim() != anchor && name.trim() != "any") || !text.ends_with(")"))
    return text;
  int depth = 1;
  for (size_t at = 0; at + 1 < rest.size(); ++at) {
    depth += rest[at] == '(';
    depth -= rest[at] == ')';
    if (depth == 0)
      return text; // another pipeline follows
  }
  return rest.drop_back();
}

/// Returns the message of the parser without its place and the quoted text.
static std::string firstMessage(StringRef text) {
  if (size_t at = text.find("error: "); at != StringRef::npos)
    text = text.drop_front(at + strlen("error: "));
  // Of an option's value the first line is empty.
  text = text.ltrim();
  text = text.take_front(text.find('\n'));
  return text.empty() ? "it cannot be parsed" : text.str();
}

static PipelineError parse(StringRef text, PassManager &manager,
                           Operation *root) {
  StringRef inner = withoutAnchor(text, root->getName().getStringRef());
  std::string said;
  auto isParsed = [&] {
    said.clear();
    raw_string_ostream os(said);
    return succeeded(parsePassPipeline(inner, manager, os));
  };
  bool isKnown = isParsed();
  if (StringRef(said).contains("does not refer to a registered") &&
      !makeablePasses().empty())
    isKnown = isParsed();
  return isKnown ? std::nullopt : PipelineError(firstMessage(said));
}

PipelineError checkPipeline(Operation *root, StringRef pipeline) {
  PassManager manager(root->getName(), OpPassManager::Nesting::Implicit);
  return parse(pipeline, manager, root);
}

PipelineError runPipeline(Operation *root, StringRef pipeline, bool forwards) {
  PassManager manager(root->getName(), OpPassManager::Nesting::Implicit);
  if (PipelineError error = parse(pipeline, manager, root))
    return error;
  MLIRContext *context = root->getContext();
  std::string first;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && first.empty())
      first = diagnostic.str();
    return success(!forwards);
  });
  // A build with assertions refuses to load dialects while a pass manager runs.
  unsigned outer = runningPassManagers;
  for (unsigned i = 0; i < outer; ++i)
    context->exitMultiThreadedExecution();
  LogicalResult result = manager.run(root);
  for (unsigned i = 0; i < outer; ++i)
    context->enterMultiThreadedExecution();
  if (succeeded(result))
    return std::nullopt;
  return first.empty() ? "a pass failed without a message" : first;
}

std::vector<std::string> registeredPasses() {
  std::vector<std::string> names;
  // MLIR has no list of them but this text.
  int file = memfd_create("passes", MFD_CLOEXEC);
  int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, STDOUT_FILENO);
  llvm::outs().flush();
  dup2(file, STDOUT_FILENO);
  printRegisteredPasses();
  llvm::outs().flush();
  std::string text(lseek(file, 0, SEEK_END), '\0');
  ssize_t size = pread(file, text.data(), text.size(), 0);
  text.resize(std::max<ssize_t>(size, 0));
  close(file);
  close(null);
  // "  --NAME  -  DESCRIPTION", without a space behind the longest names; lines
  // of options are indented further.
  std::vector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines)
    if (line.consume_front("  --"))
      names.push_back(line.take_front(line.find("-  ")).rtrim().str());
  return names;
}

} // namespace adbg
