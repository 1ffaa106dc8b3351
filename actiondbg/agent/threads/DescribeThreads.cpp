// Contexts and threads as JSON.

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "support/OwnFiles.h"
#include "threads/Turn.h"

namespace adbg {

Json contextJson(unsigned number) {
  return textOrNull(Contexts::all().nameOf(number));
}

Json mlirJson(unsigned number) {
  Contexts &contexts = Contexts::all();
  return textOrNull(contexts.hasSeveralMlirs() ? contexts.mlirOf(number) : "");
}

void Turns::describe(Object &stop) const {
  int thread = current.record ? current.thread : ThreadList::own();
  stop["thread"] =
      thread < 0 ? Json(nullptr) : Json(ThreadList::nameOf(thread));
  stop["threads"] = int64_t(threads.count());
  stop["contexts"] = int64_t(Contexts::all().countUsed(current.context));
  stop["unforkable"] = whyNoFork();
}

Array Turns::describeContexts() const {
  Array all;
  unsigned number = 0;
  for (Contexts::Record &one : Contexts::all().list()) {
    bool isCurrent = current.record && current.context == number;
    if (isCurrent) {
      one.thread = current.thread;
      one.actions += actions();
    }
    const char *state = !one.isLive ? "destroyed"
                        : isCurrent ? "stopped"
                                    : "idle";
    ++number;
    all.push_back(Object{{"name", one.name},
                         {"mlir", textOrNull(one.mlir)},
                         {"thread", one.thread < 0
                                        ? Json(nullptr)
                                        : Json(ThreadList::nameOf(one.thread))},
                         {"state", state},
                         {"actions", int64_t(one.actions)}});
  }
  return all;
}

/// The name that the program gave to a thread.
static std::string nameOfThread(pid_t id) {
  std::string path = "/proc/self/task/" + std::to_string(id) + "/comm";
  std::string text = readFile(path.c_str()).value_or("");
  return StringRef(text).rtrim().str();
}

Array Turns::describeThreads() {
  Array all;
  threads.each([&](int number, ThreadList::Record &one) {
    bool isCurrent = current.record == &one;
    uint64_t ran = one.actions + (isCurrent ? actions() : 0);
    const char *state = one.isOver      ? "ended"
                        : isCurrent     ? "stopped"
                        : one.isWaiting ? "waiting"
                                        : "running";
    all.push_back(Object{
        {"name", ThreadList::nameOf(number)},
        {"id", int64_t(one.id)},
        {"title", one.isOver ? Json(nullptr) : Json(nameOfThread(one.id))},
        {"state", state},
        {"context", contextJson(one.context)},
        {"actions", int64_t(ran)},
        {"unfollowed", int64_t(one.unfollowed)}});
  });
  return all;
}

} // namespace adbg
