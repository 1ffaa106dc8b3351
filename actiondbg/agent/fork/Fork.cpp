//===- Fork.cpp - Processes that stand where the tool stands
//----------------===//

#include "engine/Describe.h"
#include "requests/Requests.h"

#include <csignal>

using namespace mlir;
using llvm::StringRef;
using llvm::json::Object;
using Json = llvm::json::Value;

namespace adbg {

static constexpr int crashes[] = {SIGABRT, SIGSEGV, SIGBUS,
                                  SIGFPE,  SIGILL,  SIGTRAP};

//===----------------------------------------------------------------------===//
// Crashes of forks, whose status nobody can wait for
//===----------------------------------------------------------------------===//

// What the tool does in a crash.
static struct sigaction toolActions[NSIG];

static void onCrash(int number, siginfo_t *info, void *context) {
  Engine &engine = Engine::known();
  engine.crashSignal = number;
  Recorder::crash();
  struct sigaction &tool = toolActions[number];
  if (engine.role == Role::Tool && (tool.sa_flags & SA_SIGINFO))
    return tool.sa_sigaction(number, info, context);
  if (engine.role == Role::Tool && tool.sa_handler != SIG_DFL &&
      tool.sa_handler != SIG_IGN)
    return tool.sa_handler(number);
  engine.sendCrash();
  ::signal(number, SIG_DFL);
  raise(number);
}

void listenToCrashes() {
  for (int number : crashes) {
    struct sigaction action = {};
    struct sigaction before;
    action.sa_sigaction = onCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, &before) != 0)
      continue;
    // A fork of a fork has it already.
    bool isOurs =
        (before.sa_flags & SA_SIGINFO) && before.sa_sigaction == onCrash;
    if (!isOurs)
      toolActions[number] = before;
  }
}

static void ignoreInterrupts() {
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT})
    ::signal(number, SIG_DFL);
}

//===----------------------------------------------------------------------===//
// The fork
//===----------------------------------------------------------------------===//

void Engine::becomeFork(const ForkOrder &order) {
  role = order.role;
  connection.abandon();
  if (role == Role::Replica || role == Role::Trial)
    checkpoints = Checkpoints();
  // Its death removes no file of the tool's, unless it is the tool.
  setFork(role != Role::Tool);
  // What goes to the wrong file would be judged.
  if (!files.redirect(order.outputs))
    _exit(1);
  switch (role) {
  case Role::Tool:
    files.reopen(order.shared);
    if (order.muted)
      files.mute(*order.muted, order.shared);
    listenToCrashes();
    break;
  case Role::Trial:
    listenToCrashes();
    break;
  case Role::Checkpoint:
    break;
  case Role::Replica:
    Files::discard();
    listenToCrashes();
    ignoreInterrupts();
    break;
  }
  rejoin(order.socket);
}

pid_t Engine::forkFor(const ForkOrder &order) {
  // Files of a frozen process are as its parent noted them: the offsets, which
  // it shares with others, may have moved since.
  if (!isFrozen)
    files.note();
  pid_t pid = forkQuietly();
  if (pid == 0) {
    isFrozen = order.role == Role::Checkpoint && order.outputs.isEmpty();
    becomeFork(order);
  }
  return pid;
}

void Engine::look() {
  int64_t began = runTime();
  if (!checkpoints.isDue(event, began))
    return;
  ForkOrder order;
  order.role = Role::Checkpoint;
  order.socket = checkpoints.socketPath();
  pid_t pid = forkFor(order);
  if (pid == 0)
    return serve();
  if (pid > 0)
    checkpoints.made(pid, event, began, runTime() - began);
}

//===----------------------------------------------------------------------===//
// The request
//===----------------------------------------------------------------------===//

static Role roleOf(Fields &fields) {
  std::string name = fields.text("role");
  for (Role role : {Role::Tool, Role::Checkpoint, Role::Replica, Role::Trial})
    if (name == textOf(role))
      return role;
  fields.fail("there is no role '" + name + "'");
  return Role::Replica;
}

static std::vector<int64_t> numbers(Fields &fields, StringRef key) {
  std::vector<int64_t> result;
  const Json *value = fields.optional(key);
  const llvm::json::Array *list = value ? value->getAsArray() : nullptr;
  if (value && !list)
    fields.fail("the field '" + fields.nameOf(key) + "' is not a list");
  for (size_t i = 0; list && i < list->size(); ++i) {
    if (!(*list)[i].getAsInteger())
      fields.fail("the field '" + fields.nameOf(key) + "' is of integers");
    else
      result.push_back(*(*list)[i].getAsInteger());
  }
  return result;
}

Reply settle(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  engine.files.settle();
  return Object{};
}

std::optional<Reply> forkTool(Engine &engine, Fields &fields) {
  ForkOrder order;
  order.socket = fields.text("socket");
  order.role = roleOf(fields);
  order.outputs.standard[0] = fields.textOr("stdout", "");
  order.outputs.standard[1] = fields.textOr("stderr", "");
  order.outputs.others = fields.textOr("output", "");
  std::vector<int64_t> muted = numbers(fields, "muted");
  for (int64_t fd : numbers(fields, "shared"))
    order.shared.push_back(fd);
  if (!muted.empty() && muted.size() != 2)
    fields.fail("the field 'muted' is of two integers");
  else if (!muted.empty())
    order.muted = Written{{uint64_t(muted[0]), uint64_t(muted[1])}};
  if (!fields.done())
    return wrongParams(fields);
  pid_t pid = engine.forkFor(order);
  if (pid == 0)
    return std::nullopt;
  if (pid < 0)
    return Reply(NoAnswer, "the tool cannot be forked");
  return Object{{"pid", int64_t(pid)}};
}

} // namespace adbg
