//===- Changes.cpp - What was changed, in order
//-----------------------------===//

#include "Changes.h"
#include "Identity.h"

using namespace mlir;

namespace adbg {

Operation *Identities::find(uint32_t id) const {
  for (const Shard &shard : shards)
    for (const auto &[op, number] : shard)
      if (number >> 1 == id)
        return op;
  return nullptr;
}

size_t Identities::bytes() const {
  size_t bytes = 0;
  for (const Shard &shard : shards)
    bytes += shard.getMemorySize();
  return bytes;
}

llvm::StringRef textOf(ChangeKind kind) {
  static const char *const texts[changeKinds] = {
      "inserted", "erased", "replaced", "modified", "moved"};
  return texts[static_cast<unsigned>(kind)];
}

void ChangeLog::add(Change change) {
  if (held.size() == most) {
    held.erase(held.begin(), held.begin() + most / 2);
    dropped += most / 2;
  }
  held.push_back(std::move(change));
}

} // namespace adbg
