//===- Legalizations.h - Requests about dialect conversions -----*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_LEGALIZATIONS_H
#define ACTIONDBG_REQUESTS_LEGALIZATIONS_H

#include "observe/Legalizations.h"
#include "requests/Request.h"

namespace adbg {

struct OpenLegalizationsArguments {
  std::string path;
  WantedOperations wanted;
  bool reasons;
  explicit OpenLegalizationsArguments(Fields &fields);
};

/// legalizations/open: writes what failed conversions tried into a file.
class OpenLegalizations : public Request<OpenLegalizationsArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(OpenLegalizationsArguments &arguments) override;
};

/// legalizations/close
class CloseLegalizations : public Request<NoArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(NoArguments &) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_LEGALIZATIONS_H
