//===- ThreadList.cpp - The threads that ran actions ----------------------===//

#include "threads/ThreadList.h"

namespace adbg {

__thread int ThreadList::number = -1;
__thread ThreadList::Record *ThreadList::known = nullptr;

ThreadList::Record &ThreadList::enter() {
  if (known)
    return *known;
  std::lock_guard<std::mutex> lock(mutex);
  records.emplace_back();
  number = int(records.size() - 1);
  known = &records.back();
  known->id = threadId();
  size = records.size();
  return *known;
}

void ThreadList::leave() {
  if (known)
    known->isOver = true;
}

} // namespace adbg
