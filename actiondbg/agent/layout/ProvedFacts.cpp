//===- ProvedFacts.cpp - What earlier processes proved --------------------===//
//
// A line of a file is a sum of the files that the process had loaded, and a
// fact. An agent of another version, and a library that is preloaded, prove
// everything anew.
//
//===----------------------------------------------------------------------===//

#include "layout/ProvedFacts.h"
#include "detour/LoadedObjects.h"
#include "detour/MappedFile.h"
#include "support/AgentHeap.h"
#include "support/OfInstance.h"
#include "support/Symbols.h"

#include "llvm/Support/xxhash.h"
#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>

namespace adbg {

namespace {
struct KeptFacts {
  /// Empty where nothing is kept.
  std::string path;
  /// The begin of each line of this process.
  std::string sum;
  std::set<std::string, std::less<>> all;

  void read() {
    detour::MappedFile file(path.c_str(), detour::Writers::ThisUser);
    std::string_view left = file.text();
    for (size_t end; (end = left.find('\n')) != left.npos;
         left.remove_prefix(end + 1)) {
      std::string_view line = left.substr(0, end);
      if (line.substr(0, sum.size()) == sum)
        all.emplace(line.substr(sum.size()));
    }
  }

  /// A file that cannot be written is not missed.
  void append(const std::string &fact) const {
    int fd =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
      return;
    // In one write: other processes append to the file, too.
    std::string line = sum + fact + "\n";
    ssize_t written = write(fd, line.data(), line.size());
    (void)written;
    close(fd);
  }
};

} // namespace

/// Describes a file by what changes with it; empty if it is none.
static std::string describeFile(const std::string &path,
                                const std::string &buildId) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return "";
  std::string text = buildId.empty() ? path : buildId;
  for (auto part :
       {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec})
    text += " " + std::to_string(part);
  return text + "\n";
}

static ADBG_OF_INSTANCE KeptFacts *kept = nullptr;

static std::mutex &mutex() {
  static std::mutex &only = *new std::mutex;
  return only;
}

void ProvedFacts::open(const std::string &file, const std::string &buildId) {
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(mutex());
  kept = new KeptFacts;
  const char *folder = getenv("ACTIONDBG_CACHE");
  struct stat status;
  if (!folder || !*folder || buildId.empty() ||
      stat(file.c_str(), &status) != 0)
    return;
  static const char self = 0;
  std::string files = describeFile(Place::of(&self).path, "");
  for (const detour::LoadedObject &object : detour::loadedObjects())
    files += describeFile(object.path, object.buildId);
  kept->sum = std::to_string(llvm::xxh3_64bits(files)) + " ";
  kept->path = std::string(folder) + "/proofs-" + buildId + "-" +
               std::to_string(status.st_size);
  kept->read();
}

bool ProvedFacts::has(const char *fact) {
  std::lock_guard<std::mutex> lock(mutex());
  return kept && kept->all.find(std::string_view(fact)) != kept->all.end();
}

void ProvedFacts::add(const char *fact) {
  AgentHeap agentHeap;
  std::lock_guard<std::mutex> lock(mutex());
  if (!kept)
    return;
  auto [place, isNew] = kept->all.emplace(fact);
  if (isNew && !kept->path.empty())
    kept->append(*place);
}

} // namespace adbg
