//===- Legalizations.cpp - Requests about dialect conversions -------------===//

#include "requests/Legalizations.h"
#include "engine/Engine.h"

namespace adbg {

OpenLegalizationsArguments::OpenLegalizationsArguments(Fields &fields)
    : path(fields.text("path")), reasons(fields.boolean("reasons", false)) {
  wanted.ids = fields.integers("ids");
  wanted.name = Glob::parse(fields, "glob");
  wanted.most = fields.integerOr("most", 1, 1000);
}

Answer<NoResult> OpenLegalizations::run(OpenLegalizationsArguments &arguments) {
  if (std::error_code error = engine.legalizations.open(
          arguments.path, std::move(arguments.wanted), arguments.reasons))
    return RequestError(FileNotWritten, "cannot write " + arguments.path +
                                            ": " + error.message());
  return NoResult();
}

Answer<NoResult> CloseLegalizations::run(NoArguments &) {
  if (!engine.legalizations.isOpen())
    return RequestError(NoAnswer, "no legalizations are written");
  if (!engine.legalizations.close())
    return RequestError(FileNotWritten, "writing the legalizations failed");
  return NoResult();
}

} // namespace adbg
