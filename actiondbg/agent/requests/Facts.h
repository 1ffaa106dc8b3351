//===- Facts.h - Requests about what the agent knows ------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_FACTS_H
#define ACTIONDBG_REQUESTS_FACTS_H

#include "requests/Request.h"

namespace adbg {

/// facts: the layouts that the agent has learned, and the functions of the tool
/// that it uses, for a report about a build.
class GetFacts : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_FACTS_H
