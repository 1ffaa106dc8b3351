//===- InFork.cpp - Answers computed in a fork ----------------------------===//

#include "requests/InFork.h"
#include "support/ExitAtOnce.h"

#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
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

static Answer<Object> receiveFromChild(int fd, pid_t child) {
  std::string text;
  char chunk[4096];
  ssize_t size;
  while ((size = read(fd, chunk, sizeof(chunk))) > 0 ||
         (size < 0 && errno == EINTR))
    if (size > 0)
      text.append(chunk, size);
  close(fd);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  llvm::Expected<Json> parsed = llvm::json::parse(text);
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

Answer<Object> answerInFork(llvm::function_ref<Answer<Object>()> compute) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return compute();
  pid_t child = fork();
  if (child == 0) {
    // LLVM's signal handlers would remove the files that the tool is writing.
    for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTERM})
      signal(fatal, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sendToParent(ends[1], compute());
    exitAtOnce(0);
  }
  close(ends[1]);
  if (child > 0)
    return receiveFromChild(ends[0], child);
  close(ends[0]);
  return compute();
}

} // namespace adbg
