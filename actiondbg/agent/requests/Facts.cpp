//===- Facts.cpp - Requests about what the agent knows --------------------===//

#include "detour/Hooks.h"
#include "engine/Describe.h"
#include "layout/Layout.h"
#include "requests/Request.h"

namespace adbg {

static Array describeChecks() {
  using Check = Layout::Check;
  static constexpr struct {
    Check check;
    const char *name;
  } checks[] = {
      {Check::Operations, "operations"}, {Check::Regions, "regions"},
      {Check::Values, "values"},         {Check::Locations, "locations"},
      {Check::Printing, "printing"},     {Check::Lines, "lines"}};
  Array result;
  for (const auto &one : checks)
    result.push_back(Object{{"name", one.name},
                            {"passed", Layout::passed(one.check)},
                            {"why", safe(Layout::failure(one.check))}});
  for (const Fact *fact : facts::all)
    if (fact->answer() != Fact::Answer::Unknown)
      result.push_back(Object{{"name", fact->name},
                              {"passed", fact->isProved()},
                              {"why", safe(fact->why())}});
  return result;
}

static Object describeOffsets() {
  const Offsets &offsets = Layout::offsets;
  return Object{{"region size", int64_t(offsets.regionSize)},
                {"region blocks", int64_t(offsets.regionBlocks)},
                {"region parent", int64_t(offsets.regionParent)},
                {"block operations", int64_t(offsets.blockOperations)},
                {"block arguments", int64_t(offsets.blockArguments)},
                {"class name", int64_t(offsets.className)},
                {"abi checks", int64_t(offsets.hasChecks)}};
}

/// facts: the layouts that the agent has learned, and the functions of the tool
/// that it uses, for a report about a build.
static Answer<Object> getFacts(Engine &) {
  Object result{
      {"checks", Array()}, {"offsets", Object()}, {"functions", Array()}};
  if (Layout::isDecided()) {
    result["checks"] = describeChecks();
    result["offsets"] = describeOffsets();
  }
  Array functions;
  for (const ToolFunction &one : hooks().functions())
    functions.push_back(
        Object{{"symbol", std::string(one.symbol)}, {"state", one.state}});
  result["functions"] = std::move(functions);
  return result;
}

Requests factRequests() {
  static constexpr Request all[] = {
      {"facts", by<getFacts>},
  };
  return all;
}

} // namespace adbg
