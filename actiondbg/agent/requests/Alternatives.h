//===- Alternatives.h - Requests about what a fork does otherwise -*- C++ -*-=//

#ifndef ACTIONDBG_REQUESTS_ALTERNATIVES_H
#define ACTIONDBG_REQUESTS_ALTERNATIVES_H

#include "match/Alternative.h"
#include "requests/Request.h"

namespace adbg {

struct SetAlternativeArguments {
  std::unique_ptr<Alternative> alternative;
  explicit SetAlternativeArguments(Fields &fields);
};

/// alternative/set: changes what a fork does from its stop on.
class SetAlternative : public Request<SetAlternativeArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(SetAlternativeArguments &arguments) override;
};

struct RunAroundArguments {
  std::vector<std::string> before, instead, after;
  explicit RunAroundArguments(Fields &fields)
      : before(fields.texts("before")), instead(fields.texts("instead")),
        after(fields.texts("after")) {}
};

/// pass/around: runs pipelines around the pass of the stop, or in its place.
class RunAround : public Request<RunAroundArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(RunAroundArguments &arguments) override;
};

/// Writes the census of the final IR, if this fork is to.
void finishAlternative(Engine &engine);

/// census: the operations of the IR by name, and the patterns applied so far.
class GetCensus : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

/// passes: the passes that the tool has registered.
class GetPasses : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

struct TryPassArguments {
  std::string name;
  explicit TryPassArguments(Fields &fields) : name(fields.text("name")) {}
};

/// pass/try: runs a pass on the IR of a fork.
class TryPass : public Request<TryPassArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(TryPassArguments &arguments) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_ALTERNATIVES_H
