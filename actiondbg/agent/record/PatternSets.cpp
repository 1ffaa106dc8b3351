#include "record/PatternSets.h"
#include "record/Recorder.h"
#include "support/OwnFiles.h"
#include "support/Symbols.h"

#include "llvm/ADT/StringExtras.h"

namespace adbg {

namespace {
struct KnownSets {
  std::string folder;
  std::mutex mutex;
  std::unordered_set<uint64_t> recorded;
  /// The number of the thread in whose name the chunks are written.
  unsigned thread = 0;
};
} // namespace

static KnownSets &knownSets() { return immortal<KnownSets>(); }

void PatternSets::keepIn(std::string folder) {
  knownSets().folder = std::move(folder);
}

bool PatternSets::isKept() { return !knownSets().folder.empty(); }

/// Whether one of the names is the debug name or a label of a pattern, as in
/// FrozenRewritePatternSet.
static bool hasName(const Pattern &pattern, ArrayRef<std::string> names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string &name) {
    return pattern.getDebugName() == name ||
           llvm::is_contained(pattern.getDebugLabels(), StringRef(name));
  });
}

static std::string rootAndBenefit(const Pattern &pattern) {
  std::optional<OperationName> root = pattern.getRootKind();
  PatternBenefit benefit = pattern.getBenefit();
  return "\t" + (root ? root->getStringRef().str() : "") + "\t" +
         std::to_string(benefit.isImpossibleToMatch() ? 0
                                                      : benefit.getBenefit());
}

/// Returns what identifies a pattern in each process with the same files. The
/// name of a pattern without a debug name takes longer to find.
static std::string identityOfPattern(const Pattern &pattern) {
  if (!pattern.getDebugName().empty())
    return pattern.getDebugName().str();
  UnnamedPattern unnamed(pattern);
  std::string text = unnamed.unnamed;
  for (const void *address :
       {static_cast<const void *>(unnamed.vtable), unnamed.function})
    if (address)
      text += Place::of(address).offsetOf(address);
  return text;
}

/// A line for each pattern: its name, its full name, root, benefit.
static std::string textOfSet(ArrayRef<const Pattern *> patterns) {
  std::string text;
  for (const Pattern *pattern : patterns) {
    StringRef full = nameOf(*pattern);
    text += withoutAnonymous(full) + "\t" + full.str() +
            rootAndBenefit(*pattern) + "\n";
  }
  return text;
}

/// Writes a new file at once: other processes write the same.
static void writeSet(const std::string &path, StringRef text) {
  std::string own = path + "." + std::to_string(getpid());
  int file = open(own.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  FileLimit limit;
  bool isWhole = file >= 0 && ::write(file, text.data(), text.size()) ==
                                  static_cast<ssize_t>(text.size());
  if (file >= 0)
    close(file);
  if (!isWhole || rename(own.c_str(), path.c_str()) != 0)
    unlink(own.c_str());
}

void PatternSets::record(ArrayRef<std::unique_ptr<RewritePattern>> patterns,
                         ArrayRef<std::string> disabled,
                         ArrayRef<std::string> enabled) {
  std::vector<const Pattern *> used;
  std::string identity;
  for (const std::unique_ptr<RewritePattern> &one : patterns) {
    if (hasName(*one, disabled) ||
        (!enabled.empty() && !hasName(*one, enabled)))
      continue;
    used.push_back(one.get());
    identity += identityOfPattern(*one) + rootAndBenefit(*one) + "\n";
  }
  if (used.empty())
    return;
  uint64_t hash = llvm::xxh3_64bits(identity);
  std::lock_guard<std::mutex> lock(knownSets().mutex);
  if (!knownSets().recorded.insert(hash).second)
    return;
  std::string path = knownSets().folder + "/" + llvm::utohexstr(hash, true);
  if (access(path.c_str(), F_OK) != 0)
    writeSet(path, textOfSet(used));
  if (!knownSets().thread)
    knownSets().thread = Recorder::newThread();
  ChunkHeader header;
  header.thread = knownSets().thread;
  RecordFile::write(header, Part{SectionKind::PatternSets, sizeof(hash), 1,
                                 &hash, sizeof(hash)});
}

} // namespace adbg
