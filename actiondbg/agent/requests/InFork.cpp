//===- InFork.cpp - Answers computed in a fork ----------------------------===//

#include "requests/InFork.h"
#include "support/ExitAtOnce.h"

#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using llvm::json::Object;
using Json = llvm::json::Value;

namespace adbg {

/// Sends the answer of the forked child to its parent.
static void sendToParent(int fd, Answer<Object> answer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto *error = std::get_if<RequestError>(&answer))
    os << Json(Object{{"code", error->code},
                      {"message", llvm::json::fixUTF8(error->message)}});
  else
    os << Json(Object{{"result", std::move(std::get<Object>(answer))}});
  llvm::raw_fd_ostream(fd, /*shouldClose=*/true) << text;
}

using Clock = std::chrono::steady_clock;

/// Reads what a child writes; false if it did not come to its end in time.
static bool readToEnd(int fd, std::string &text, Clock::time_point last) {
  char chunk[4096];
  for (;;) {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(last - Clock::now());
    struct pollfd one = {fd, POLLIN, 0};
    bool isEndless = last == Clock::time_point::max();
    if (!isEndless && left.count() <= 0)
      return false;
    int ready = poll(&one, 1, isEndless ? -1 : static_cast<int>(left.count()));
    ssize_t size = ready > 0 ? read(fd, chunk, sizeof(chunk)) : -1;
    if (size > 0)
      text.append(chunk, size);
    else if (size == 0 || (ready < 0 && errno != EINTR))
      return size == 0;
  }
}

namespace {
struct ForkEnd {
  /// Whether there could be a fork.
  bool isForked = false;
  /// What it wrote; empty if it crashed, none if it did not end in time.
  std::optional<std::string> text = std::nullopt;
};
} // namespace

static ForkEnd runInFork(llvm::function_ref<void(int)> write,
                         Clock::time_point last = Clock::time_point::max()) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {};
  pid_t child = fork();
  if (child == 0) {
    // LLVM's signal handlers would remove the files that the tool is writing.
    for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTERM})
      signal(fatal, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    write(ends[1]);
    exitAtOnce(0);
  }
  close(ends[1]);
  ForkEnd end{child > 0, ""};
  if (child > 0 && !readToEnd(ends[0], *end.text, last)) {
    kill(child, SIGKILL);
    end.text.reset();
  }
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return end;
}

Answer<Object> answerInFork(llvm::function_ref<Answer<Object>()> compute) {
  ForkEnd end = runInFork([&](int fd) { sendToParent(fd, compute()); });
  if (!end.isForked)
    return compute();
  llvm::Expected<Json> parsed = llvm::json::parse(end.text.value_or(""));
  Object *answer = parsed ? parsed->getAsObject() : nullptr;
  if (!answer) {
    llvm::consumeError(parsed.takeError());
    return RequestError(UnitErased,
                        "this IR cannot be printed at this stop: it is "
                        "incomplete, and printing it crashes; print less, or "
                        "use --generic");
  }
  if (int64_t code = answer->getInteger("code").value_or(0))
    return RequestError(code, *answer->getString("message"));
  return std::move(*answer->getObject("result"));
}

bool survivesInFork(llvm::function_ref<void()> compute) {
  auto run = [&](int fd) {
    compute();
    sendToParent(fd, Object());
  };
  ForkEnd end = runInFork(run, Clock::now() + std::chrono::seconds(10));
  return !end.isForked || (end.text && !end.text->empty());
}

} // namespace adbg
