//===- FollowedProcess.cpp - Which process of a program it is -------------===//

#include "interpose/FollowedProcess.h"
#include "match/Glob.h"

#include "llvm/ADT/SmallVector.h"
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using llvm::StringRef;

namespace adbg {

static StringRef withoutDirectory(StringRef path) {
  return path.rsplit('/').second.empty() ? path : path.rsplit('/').second;
}

static std::string ownCommandLine() {
  std::string text;
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  char chunk[4096];
  ssize_t size;
  while (file >= 0 && (size = read(file, chunk, sizeof(chunk))) > 0)
    text.append(chunk, size);
  if (file >= 0)
    close(file);
  return text;
}

bool isFollowed(StringRef glob) {
  if (glob.empty())
    return true;
  std::string error;
  std::optional<Glob> wanted = Glob::create(glob, error);
  if (!wanted)
    return true; // the front end has checked it
  char executable[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", executable, sizeof(executable));
  if (size > 0 &&
      wanted->matchesNow(withoutDirectory({executable, size_t(size)})))
    return true;
  std::string line = ownCommandLine();
  llvm::SmallVector<StringRef, 16> words;
  StringRef(line).split(words, '\0');
  for (StringRef word : words)
    if (wanted->matchesNow(withoutDirectory(word)))
      return true;
  return false;
}

/// Whether the open file is empty, and no other process has claimed it. It
/// stays claimed while this process lives.
static bool claim(int file) {
  struct stat status;
  return flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &status) == 0 &&
         status.st_size == 0;
}

std::string claimRecording(const std::string &path) {
  size_t dot = path.rfind('.');
  if (dot == std::string::npos || dot < path.rfind('/') + 1)
    dot = path.size();
  for (unsigned number = 0; number < 100000; ++number) {
    std::string name = path;
    if (number)
      name.insert(dot, ".p" + std::to_string(number));
    int flags = O_WRONLY | O_CLOEXEC | O_CREAT | (number ? O_EXCL : 0);
    int file = open(name.c_str(), flags, 0666);
    if (file < 0 && errno != EEXIST)
      return "";
    if (file >= 0 && claim(file))
      return name;
    if (file >= 0)
      close(file);
  }
  return "";
}

} // namespace adbg
