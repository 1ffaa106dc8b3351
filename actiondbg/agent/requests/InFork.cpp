//===- InFork.cpp - Answers computed in a fork ----------------------------===//

#include "fork/QuietFork.h"
#include "requests/Request.h"

namespace adbg {

/// Whether this process is such a fork, which needs no fork of its own.
static bool isInFork = false;

/// Sends the answer of the forked child to its parent.
static void sendToParent(int fd, Answer<Object> answer) {
  std::string text;
  raw_string_ostream os(text);
  if (auto *error = std::get_if<RequestError>(&answer))
    os << Json(Object{{"code", error->code}, {"message", error->message}});
  else
    os << Json(Object{{"result", std::move(std::get<Object>(answer))}});
  raw_fd_ostream(fd, /*shouldClose=*/true) << text;
}

Answer<Object> answerInFork(function_ref<Answer<Object>()> compute) {
  if (isInFork)
    return compute();
  ForkEnd end = runInFork([&](int fd) {
    isInFork = true;
    sendToParent(fd, compute());
  });
  if (!end.isForked)
    return compute();
  if (!end.text)
    return RequestError(
        UnitErased,
        "this IR cannot be printed at this stop: a fork of the tool prints it, "
        "and waits for a lock that another thread of the tool held");
  std::optional<Json> parsed = llvm::json::parse(*end.text);
  Object *answer = parsed ? parsed->getAsObject() : nullptr;
  if (!answer)
    return RequestError(UnitErased,
                        "this IR cannot be printed at this stop: it is "
                        "incomplete, and printing it crashes; print less, or "
                        "use --generic");
  if (int64_t code = answer->getInteger("code").value_or(0))
    return RequestError(code, answer->getString("message")->str());
  return std::move(*answer->getObject("result"));
}

bool survivesInFork(function_ref<void()> compute) {
  auto run = [&](int fd) {
    compute();
    sendToParent(fd, Object());
  };
  ForkEnd end = runInFork(run, std::chrono::seconds(10));
  return !end.isForked || (end.text && !end.text->empty());
}

} // namespace adbg
