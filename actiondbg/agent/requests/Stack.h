//===- Stack.h - Requests about the stack of actions ------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_STACK_H
#define ACTIONDBG_REQUESTS_STACK_H

#include "requests/Request.h"

namespace adbg {

/// backtrace: the actions that run, innermost first.
class GetBacktrace : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

struct SelectFrameArguments {
  int64_t index;
  explicit SelectFrameArguments(Fields &fields)
      : index(fields.integer("index", 0)) {}
};

/// frame/select: selects an action of the stack, and puts the cursor on its IR.
class SelectFrame : public Request<SelectFrameArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(SelectFrameArguments &arguments) override;
};

/// action: the details of the selected action.
class GetAction : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

/// context: the IR units of the selected action.
class GetContext : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

struct GetChangesArguments {
  bool nested;
  int64_t count;
  explicit GetChangesArguments(Fields &fields)
      : nested(fields.boolean("nested", true)),
        count(fields.integerOr("count", 0, 1000)) {}
};

/// changes: the changes of the selected action, oldest first.
class GetChanges : public Request<GetChangesArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(GetChangesArguments &arguments) override;
};

/// pipeline: the pass around the selected action as a textual pipeline.
class GetPipeline : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_STACK_H
