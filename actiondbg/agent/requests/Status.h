//===- Status.h - Requests about the run so far -----------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_STATUS_H
#define ACTIONDBG_REQUESTS_STATUS_H

#include "requests/Request.h"

namespace adbg {

/// status: the position of the run and the agent's memory use.
class GetStatus : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

/// contexts: the MLIR contexts of the process.
class GetContexts : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

/// threads: the threads that ran actions.
class GetThreads : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

struct GetNamesArguments {
  enum class Kind { Tag, Pattern, Pass, Operation, Function };
  Kind kind = Kind::Tag;
  explicit GetNamesArguments(Fields &fields);
};

/// names: the names of one kind, for completion and to look up the names of
/// breakpoints.
class GetNames : public Request<GetNamesArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(GetNamesArguments &arguments) override;
};

/// statistics: counts and time by tag and name.
class GetStatistics : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

struct SetOptionsArguments {
  struct Checkpoints {
    std::string socket;
    int64_t milliseconds, megabytes;
    static std::optional<Checkpoints> parse(Fields &fields);
  };
  /// Absent options keep their value.
  std::optional<bool> verifyEachAction, count, stopOnCrash;
  /// Whether other threads wait while one is at a stop.
  std::optional<bool> threadsWait;
  std::optional<Checkpoints> checkpoints;
  explicit SetOptionsArguments(Fields &fields);
};

/// options/set: sets what is verified, counted and checkpointed, and
/// whether threads wait.
class SetOptions : public Request<SetOptionsArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(SetOptionsArguments &arguments) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_STATUS_H
