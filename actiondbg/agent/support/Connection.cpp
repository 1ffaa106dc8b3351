#include "support/Connection.h"
#include "layout/ToolFunctions.h"
#include "support/AgentHeap.h"
#include "support/ExitAtOnce.h"
#include "support/Registers.h"

#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace adbg {

// 16 MiB, see docs/protocol.md.
static constexpr size_t maxLine = 16u << 20;

// The socket, for the signal handler.
static volatile int watched = -1;

static bool isForked = false;

void setFork(bool is) { isForked = is; }
bool isFork() { return isForked; }

void endProcess() {
  if (isFork())
    exitAtOnce(1);
  if (tool::runInterruptHandlers)
    tool::runInterruptHandlers();
  exitAtOnce(1);
}

void Connection::gone(int error) {
  bool isLost = error == EBADF || error == ENOTSOCK;
  auto react = isLost ? onLost : onGone;
  if (!react || isFork())
    endProcess();
  if (isLost)
    fd = -1; // it may be a file of the tool, which stays open
  abandon();
  buffer.clear();
  scanned = 0;
  react();
}

/// Whether the code at `address` may be changing the heap or the agent's state:
/// code of the C library, of the dynamic loader or of the agent, or what the
/// agent calls.
static bool isDelicate(void *address) {
  Dl_info code, library, agent;
  if (AgentHeap::isUsed())
    return true;
  if (!dladdr(address, &code) || !code.dli_fbase)
    return true;
  dladdr(reinterpret_cast<void *>(&::poll), &library);
  dladdr(reinterpret_cast<void *>(&endProcess), &agent);
  return code.dli_fbase == library.dli_fbase ||
         code.dli_fbase == reinterpret_cast<void *>(getauxval(AT_BASE)) ||
         code.dli_fbase == agent.dli_fbase;
}

/// Whether a forced interrupt is waiting in the socket.
static bool isForced(int fd) {
  static char peeked[4096];
  ssize_t size = ::recv(fd, peeked, sizeof(peeked), MSG_PEEK | MSG_DONTWAIT);
  return size > 0 && memmem(peeked, size, "\"force\":true", 12);
}

static timer_t retry;

/// Called when the socket becomes readable or is closed by its peer. A thread
/// waiting for this would make malloc take locks in every tool; a signal does
/// not.
static void onSignal(int, siginfo_t *, void *context) {
  int saved = errno;
  Connection::arrived = 1;
  int fd = watched;
  struct pollfd poll = {fd, POLLIN, 0};
  if (fd >= 0 && ::poll(&poll, 1, 0) == 1 && (poll.revents & POLLHUP) &&
      (!Connection::onGone || isFork()))
    endProcess();
  if (fd >= 0 && Connection::onForce && isForced(fd) &&
      !Connection::passesOn()) {
    auto *interrupted = static_cast<ucontext_t *>(context);
    if (!isDelicate(programCounter(*interrupted))) {
      Connection::onForce();
    } else {
      struct itimerspec soon = {{0, 0}, {0, 2000000}};
      timer_settime(retry, 0, &soon, nullptr);
    }
  }
  errno = saved;
}

static void notifyBySignal(int fd) {
  struct sigaction action = {};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGIO, &action, nullptr);
  struct sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGIO;
  timer_create(CLOCK_MONOTONIC, &event, &retry);
  watched = fd;
  fcntl(fd, F_SETOWN, getpid());
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
}

void Connection::open(const std::string &path) {
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (fd < 0 || path.size() >= sizeof(address.sun_path)) {
    llvm::errs() << "actiondbg: cannot use the socket " << path << "\n";
    exitAtOnce(3);
  }
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (connect(fd, reinterpret_cast<struct sockaddr *>(&address),
              sizeof(address)) != 0) {
    // A fork without a front end cannot report anything.
    if (!isFork())
      llvm::errs() << "actiondbg: cannot connect to " << path << ": "
                   << strerror(errno) << "\n";
    exitAtOnce(3);
  }
  notifyBySignal(fd);
}

void Connection::abandon() {
  watched = -1;
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

void Connection::sendRaw(const char *bytes, size_t size) {
  while (size && fd >= 0) {
    ssize_t sent = ::send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0)
      return gone(errno);
    bytes += sent;
    size -= sent;
  }
}

void Connection::send(const Json &message) {
  std::string text;
  raw_string_ostream(text) << message << "\n";
  sendRaw(text.data(), text.size());
}

void Connection::notify(StringRef method, Object params) {
  send(Object{
      {"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

std::optional<std::string> Connection::takeLine() {
  size_t end = buffer.find('\n', scanned);
  if (end == std::string::npos) {
    scanned = buffer.size();
    return std::nullopt;
  }
  std::string line = buffer.substr(0, end);
  buffer.erase(0, end + 1);
  scanned = 0;
  return line;
}

bool Connection::fill(bool wait) {
  char chunk[65536];
  ssize_t size = ::recv(fd, chunk, sizeof(chunk), wait ? 0 : MSG_DONTWAIT);
  if (size < 0 && errno == EINTR)
    return wait;
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return false;
  if (size <= 0) {
    gone(size ? errno : 0);
    return false;
  }
  buffer.append(chunk, size);
  if (buffer.size() > maxLine && buffer.find('\n') == std::string::npos) {
    llvm::errs() << "actiondbg: received a message of more than " << maxLine
                 << " bytes from the front end; the tool ends\n";
    endProcess();
  }
  return true;
}

std::string Connection::receive() {
  while (true) {
    if (std::optional<std::string> line = takeLine())
      return *line;
    if (!fill(/*wait=*/true) && !isOpen())
      return "";
  }
}

std::optional<std::string> Connection::poll() {
  arrived = 0;
  while (true) {
    if (std::optional<std::string> line = takeLine())
      return line;
    if (!fill(/*wait=*/false))
      return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// The envelope of messages
//===----------------------------------------------------------------------===//

Envelope Envelope::open(StringRef line) {
  Envelope envelope;
  std::string error;
  std::optional<Json> parsed = llvm::json::parse(line, &error);
  if (!parsed) {
    envelope.error.emplace(ParseError, "the line is not JSON: " + error);
    return envelope;
  }
  Object *object = parsed->getAsObject();
  std::optional<StringRef> method;
  if (object)
    method = object->getString("method");
  if (!method || object->getString("jsonrpc") != StringRef("2.0")) {
    envelope.error.emplace(InvalidRequest,
                           "the line is not a JSON-RPC 2.0 request");
    return envelope;
  }
  envelope.method = method->str();
  if (const Json *id = object->get("id"))
    envelope.id = *id;
  if (Json *params = object->get("params")) {
    if (Object *fields = params->getAsObject())
      envelope.params = std::move(*fields);
    else
      envelope.error.emplace(InvalidParams, "'params' is not an object");
  }
  return envelope;
}

Json answerMessage(Json id, StringRef kind, Json content) {
  Object message{{"jsonrpc", "2.0"}, {"id", std::move(id)}};
  message[kind] = std::move(content);
  return message;
}

} // namespace adbg
