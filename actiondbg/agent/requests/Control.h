//===- Control.h - Requests that resume the tool or skip actions *- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_CONTROL_H
#define ACTIONDBG_REQUESTS_CONTROL_H

#include "edit/EditPlan.h"
#include "engine/Resumption.h"
#include "match/Skips.h"
#include "requests/Request.h"

namespace adbg {

struct ResumeArguments {
  Resumption resumption;
  explicit ResumeArguments(Fields &fields);
};

/// resume: continues the tool with one of the controls.
class Resume : public Request<ResumeArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(ResumeArguments &arguments) override;
};

/// skips/get: the ordinals of the actions that were skipped.
class GetSkips : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

struct SetSkipsArguments {
  std::vector<uint64_t> wanted, applied;
  std::vector<SkipRule> rules;
  std::vector<Edit> edits;
  explicit SetSkipsArguments(Fields &fields);
};

/// skips/set: replaces the actions to skip and the edits of this timeline;
/// returns whether the action that the tool is stopped before is skipped.
class SetSkips : public Request<SetSkipsArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(SetSkipsArguments &arguments) override;
};

struct SetPlanArguments {
  std::string record;
  std::unique_ptr<Plan> plan;
  explicit SetPlanArguments(Fields &fields)
      : record(fields.textOr("record", "")), plan(Plan::parse(fields)) {}
};

/// plan/set: replaces the plan of a trial, which skips many actions.
class SetPlan : public Request<SetPlanArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(SetPlanArguments &arguments) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_CONTROL_H
