//===- Fork.h - Requests about forks of the tool ----------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_FORK_H
#define ACTIONDBG_REQUESTS_FORK_H

#include "fork/ForkSettings.h"
#include "requests/Request.h"

#include <csignal>

namespace adbg {

struct ForkArguments {
  ForkSettings settings;
  explicit ForkArguments(Fields &fields);
};

/// fork: forks the tool; the fork connects on its own.
class Fork : public Request<ForkArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(ForkArguments &arguments) override;
};

struct ExitArguments {
  int64_t status;
  explicit ExitArguments(Fields &fields)
      : status(fields.integer("status", -NSIG)) {}
};

/// exit: ends the process as the fork ended that took its place.
class Exit : public Request<ExitArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(ExitArguments &arguments) override;
};

/// settle: truncates the tool's files to the output of this timeline.
class Settle : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

struct FollowArguments {
  std::vector<std::string> files;
  explicit FollowArguments(Fields &fields) : files(fields.texts("files")) {}
};

/// follow: opens files that the tool has made again.
class Follow : public Request<FollowArguments, NoResult> {
public:
  using Request::Request;

protected:
  Answer<NoResult> run(FollowArguments &arguments) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_FORK_H
