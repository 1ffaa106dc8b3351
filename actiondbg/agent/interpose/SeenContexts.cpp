//===- SeenContexts.cpp - The contexts that were seen --------------------===//

#include "interpose/SeenContexts.h"
#include "support/AgentHeap.h"

#include <mutex>
#include <unordered_set>

namespace adbg {

namespace {
struct SeenContexts {
  std::mutex mutex;
  std::unordered_set<const void *> all;
};
} // namespace

static SeenContexts &seen() {
  // Never destroyed: the tool may run passes in static destructors.
  static SeenContexts *seen = new SeenContexts;
  return *seen;
}

static thread_local const void *last = nullptr;

void noteContext(const void *context) {
  if (last == context)
    return;
  last = context;
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(seen().mutex);
  seen().all.insert(context);
}

bool isContext(const void *pointer) {
  if (pointer && last == pointer)
    return true;
  std::lock_guard<std::mutex> lock(seen().mutex);
  return seen().all.count(pointer);
}

} // namespace adbg
