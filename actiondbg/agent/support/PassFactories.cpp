//===- PassFactories.cpp - Passes that the tool can make ------------------===//
//
// A factory is a function `createNAME()` or `createNAMEPass()` in a namespace.
// Its name alone is no evidence of what it returns. TableGen derives a class of
// each pass from a class `impl::NAMEBase`: where a symbol mentions it, a pass
// of this name exists. What the function returns is examined in a fork then.
//
//===----------------------------------------------------------------------===//

#include "support/PassFactories.h"
#include "detour/Instances.h"
#include "detour/LoadedObjects.h"
#include "layout/Proof.h"
#include "support/AgentHeap.h"
#include "support/OfInstance.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <memory>
#include <set>

namespace adbg {

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

/// Whether a factory makes a pass with a name, in this object.
struct FactoryTrial {
  const detour::LoadedObject &object;
  PassFactory factory;

  std::string operator()() const {
    ToolHeap toolHeap;
    std::unique_ptr<Pass> pass = factory();
    if (!pass || !object.contains(*reinterpret_cast<void **>(pass.get())))
      return "it makes no pass";
    StringRef name = pass->getArgument();
    return !name.empty() && std::ranges::all_of(name, llvm::isPrint)
               ? ""
               : "its pass has no name";
  }
};
} // namespace

/// Returns the factories of an object that make passes.
static std::vector<PassFactory>
provedFactories(const detour::LoadedObject &object) {
  const PassFactories factories(object);
  std::vector<FactoryTrial> trials;
  for (const auto &[symbol, factory] : factories.all)
    trials.push_back({object, factory});
  std::vector<ProofStep> steps;
  for (size_t i = 0; i < trials.size(); ++i)
    steps.push_back({factories.all[i].first.c_str(), trials[i]});
  std::vector<std::string> why = proveInForks(steps);
  std::vector<PassFactory> proved;
  for (size_t i = 0; i < trials.size(); ++i)
    if (why[i].empty())
      proved.push_back(trials[i].factory);
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

} // namespace adbg
