#include "support/Pipelines.h"
#include "detour/LoadedObjects.h"
#include "layout/Proof.h"
#include "support/AgentHeap.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// Passes that the tool can make
//===----------------------------------------------------------------------===//

// A factory is a function `createNAME()` or `createNAMEPass()` in a namespace.
// Its name alone is no evidence of what it returns. TableGen derives a class of
// each pass from a class `impl::NAMEBase`: where a symbol mentions it, a pass
// of this name exists. What the function returns is examined in a fork then.

using PassFactory = std::unique_ptr<Pass> (*)();

namespace {
/// The factories of an object, by symbol.
class PassFactories {
public:
  explicit PassFactories(const detour::LoadedObject &object) {
    object.visitSymbols([&](const char *symbol, const Elf64_Sym &found) {
      noteBase(symbol);
      if (StringRef name = nameOf(symbol); !name.empty())
        named[symbol] = {name.str(), reinterpret_cast<PassFactory>(
                                         object.bias + found.st_value)};
    });
    for (auto &[symbol, one] : named)
      if (hasBase(one.name))
        all.emplace_back(symbol, one.factory);
  }

  std::vector<std::pair<std::string, PassFactory>> all;

private:
  struct Named {
    std::string name;
    PassFactory factory;
  };

  /// Takes the part of a mangled name that its length precedes.
  static StringRef takePart(StringRef &mangled) {
    size_t length = 0;
    if (mangled.consumeInteger(10, length) || length > mangled.size())
      return "";
    StringRef part = mangled.take_front(length);
    mangled = mangled.drop_front(length);
    return part;
  }

  /// Returns `CSEPass` for mlir::createCSEPass(); empty for another function.
  static StringRef nameOf(StringRef symbol) {
    if (!symbol.consume_front("_ZN") || !symbol.ends_with("Ev"))
      return "";
    StringRef last;
    while (!symbol.empty() && llvm::isDigit(symbol.front())) {
      last = takePart(symbol);
      if (last == "impl") // where the same factory is written out
        return "";
    }
    return symbol == "Ev" && last.consume_front("create") ? last : "";
  }

  void noteBase(StringRef symbol) {
    constexpr StringRef scope = "4impl";
    size_t at = symbol.find(scope);
    if (at == StringRef::npos)
      return;
    symbol = symbol.drop_front(at + scope.size());
    if (StringRef name = takePart(symbol); name.consume_back("Base"))
      bases.insert(name.str());
  }

  bool hasBase(StringRef name) const {
    StringRef plain = name;
    plain.consume_back("Pass");
    return bases.count(plain.str()) || bases.count(plain + "Pass");
  }

  std::map<std::string, Named> named;
  std::set<std::string> bases;
};

} // namespace

/// Returns why a factory makes no pass with a name, in its object; empty if it
/// does.
static std::string whyNoPass(const detour::LoadedObject &object,
                             PassFactory factory) {
  ToolHeap toolHeap;
  std::unique_ptr<Pass> pass = factory();
  if (!pass || !object.contains(*reinterpret_cast<void **>(pass.get())))
    return "it makes no pass";
  StringRef name = pass->getArgument();
  return !name.empty() && std::ranges::all_of(name, llvm::isPrint)
             ? ""
             : "its pass has no name";
}

/// Returns the factories of an object that make passes.
static std::vector<PassFactory>
provedFactories(const detour::LoadedObject &object) {
  const PassFactories factories(object);
  std::deque<std::function<std::string()>> trials;
  std::vector<ProofStep> steps;
  for (const auto &[symbol, factory] : factories.all) {
    trials.push_back([&object, factory] { return whyNoPass(object, factory); });
    steps.push_back({symbol.c_str(), trials.back()});
  }
  std::vector<std::string> why = proveInForks(steps);
  std::vector<PassFactory> proved;
  for (size_t i = 0; i < why.size(); ++i)
    if (why[i].empty())
      proved.push_back(factories.all[i].second);
  return proved;
}

static std::vector<std::string>
registerPassesOf(const detour::LoadedObject &object) {
  std::vector<std::string> names;
  for (PassFactory factory : provedFactories(object)) {
    ToolHeap toolHeap;
    std::unique_ptr<Pass> pass = factory();
    // Two passes of one name would end the tool.
    if (!tool::findPass(pass->getArgument()))
      tool::registerPass(factory);
    AgentHeap agentHeap;
    std::string name = pass->getArgument().str();
    if (!llvm::is_contained(names, name))
      names.push_back(std::move(name));
  }
  return names;
}

const std::vector<std::string> &makeablePasses() {
  static ADBG_OF_INSTANCE std::vector<std::string> *found = nullptr;
  if (found)
    return *found;
  AgentHeap agentHeap;
  found = new std::vector<std::string>;
  std::string file = Instances::all().fileOf(Instances::current());
  for (const detour::LoadedObject &object : detour::loadedObjects())
    if (object.path == file && tool::registerPass && tool::findPass)
      *found = registerPassesOf(object);
  return *found;
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

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

namespace {
/// A pass manager of the tool, for the operations that have the name of `root`.
struct Manager {
  explicit Manager(Operation *root) {
    constexpr int implicitNesting = 0;
    tool::makeManager(memory, root->getName().getAsOpaquePointer(),
                      implicitNesting);
  }
  ~Manager() { tool::endManager(memory); }
  Manager(const Manager &) = delete;

  // Some hundred bytes.
  alignas(16) char memory[4096] = {};
};
} // namespace

static PipelineError parse(StringRef text, Manager &manager, Operation *root) {
  StringRef inner = withoutAnchor(text, root->getName().getStringRef());
  std::string said;
  auto isParsed = [&] {
    said.clear();
    raw_string_ostream os(said);
    return succeeded(tool::parsePipeline(inner, manager.memory, os));
  };
  bool isKnown = isParsed();
  if (StringRef(said).contains("does not refer to a registered") &&
      !makeablePasses().empty())
    isKnown = isParsed();
  return isKnown ? std::nullopt : PipelineError(firstMessage(said));
}

PipelineError checkPipeline(Operation *root, StringRef pipeline) {
  Manager manager(root);
  return parse(pipeline, manager, root);
}

PipelineError runPipeline(Operation *root, StringRef pipeline, bool forwards) {
  Manager manager(root);
  if (PipelineError error = parse(pipeline, manager, root))
    return error;
  MLIRContext *context = root->getContext();
  std::string first;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && first.empty())
      first = diagnostic.str();
    return success(!forwards);
  });
  LoadingDialects loading(context);
  if (succeeded(tool::runManager(manager.memory, root)))
    return std::nullopt;
  return first.empty() ? "a pass failed without a message" : first;
}

static void flushOutput() {
  if (tool::output)
    tool::output().flush();
}

std::vector<std::string> registeredPasses() {
  std::vector<std::string> names;
  // MLIR has no list of them but this text.
  int file = memfd_create("passes", MFD_CLOEXEC);
  int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, STDOUT_FILENO);
  flushOutput();
  dup2(file, STDOUT_FILENO);
  if (tool::printPasses)
    tool::printPasses();
  flushOutput();
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
