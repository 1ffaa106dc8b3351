//===- Legalizations.cpp - Requests about dialect conversions -------------===//

#include "observe/Legalizations.h"
#include "engine/Engine.h"
#include "requests/Request.h"

namespace adbg {

struct OpenLegalizationsArguments {
  std::string path;
  WantedOperations wanted;
  bool reasons;
  explicit OpenLegalizationsArguments(Fields &fields)
      : path(fields.text("path")), reasons(fields.boolean("reasons", false)) {
    wanted.ids = fields.integers("ids");
    wanted.name = Glob::parse(fields, "glob");
    wanted.most = fields.integerOr("most", 1, 1000);
  }
};

/// legalizations/open: writes what failed conversions tried into a file.
static Answer<NoResult>
openLegalizations(Engine &engine, OpenLegalizationsArguments &arguments) {
  if (std::error_code error = engine.legalizations.open(
          arguments.path, std::move(arguments.wanted), arguments.reasons))
    return RequestError(FileNotWritten, "cannot write " + arguments.path +
                                            ": " + error.message());
  return NoResult();
}

/// legalizations/close
static Answer<NoResult> closeLegalizations(Engine &engine) {
  if (!engine.legalizations.isOpen())
    return RequestError(NoAnswer, "no legalizations are written");
  if (!engine.legalizations.close())
    return RequestError(FileNotWritten, "writing the legalizations failed");
  return NoResult();
}

Requests legalizationRequests() {
  static constexpr Request all[] = {
      {"legalizations/open", by<openLegalizations>},
      {"legalizations/close", by<closeLegalizations>},
  };
  return all;
}

} // namespace adbg
