#include "threads/Contexts.h"
#include "detour/Instances.h"
#include "support/AgentHeap.h"

namespace adbg {

/// Returns the name of the file of the MLIR that makes a context.
static std::string currentMlir() {
  std::string file = Instances::all().fileOf(Instances::current());
  return file.substr(file.rfind('/') + 1);
}

Contexts &Contexts::all() {
  // Never destroyed: the tool may end contexts in static destructors.
  static Contexts *contexts = new Contexts;
  return *contexts;
}

unsigned Contexts::add(const void *context) {
  std::lock_guard<std::mutex> lock(mutex);
  records.emplace_back();
  unsigned number = records.size() - 1;
  records.back().name = "c" + std::to_string(number);
  records.back().mlir = currentMlir();
  live[context] = number;
  return number < unknown ? number : unknown;
}

void Contexts::remove(const void *context) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = live.find(context);
  if (found == live.end())
    return;
  records[found->second].isLive = false;
  live.erase(found);
}

void Contexts::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  records.clear();
  live.clear();
}

unsigned Contexts::numberOf(const void *context) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = live.find(context);
  return found == live.end() || found->second >= unknown ? unknown
                                                         : found->second;
}

void Contexts::ran(unsigned number, int thread, uint64_t actions) {
  std::lock_guard<std::mutex> lock(mutex);
  if (number >= records.size())
    return;
  records[number].thread = thread;
  records[number].actions += actions;
}

StringRef Contexts::nameOf(unsigned number) {
  if (number == unknown)
    return "";
  std::lock_guard<std::mutex> lock(mutex);
  return number < records.size() ? StringRef(records[number].name) : "";
}

StringRef Contexts::mlirOf(unsigned number) {
  if (number == unknown)
    return "";
  std::lock_guard<std::mutex> lock(mutex);
  return number < records.size() ? StringRef(records[number].mlir) : "";
}

bool Contexts::hasSeveralMlirs() {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Record &record : records)
    if (record.mlir != records.front().mlir)
      return true;
  return false;
}

std::deque<Contexts::Record> Contexts::list() {
  std::lock_guard<std::mutex> lock(mutex);
  return records;
}

size_t Contexts::countUsed(unsigned current) {
  std::lock_guard<std::mutex> lock(mutex);
  size_t used = 0;
  for (size_t i = 0; i < records.size(); ++i)
    used += records[i].actions || i == current;
  return used;
}

size_t Contexts::count() {
  std::lock_guard<std::mutex> lock(mutex);
  return records.size();
}

/// The context that this thread noted last.
static thread_local const void *last = nullptr;

void Contexts::note(const void *context) {
  if (last == context)
    return;
  last = context;
  AgentHeap agentHeap;
  Contexts &contexts = all();
  std::lock_guard<std::mutex> lock(contexts.mutex);
  contexts.seen.insert(context);
}

bool Contexts::has(const void *pointer) {
  if (pointer && last == pointer)
    return true;
  Contexts &contexts = all();
  std::lock_guard<std::mutex> lock(contexts.mutex);
  return contexts.seen.count(pointer);
}

} // namespace adbg
