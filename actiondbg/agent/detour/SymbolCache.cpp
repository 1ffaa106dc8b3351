//===- SymbolCache.cpp - Symbols that were found before -------------------===//

#include "detour/SymbolCache.h"
#include "detour/MappedFile.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>

namespace adbg::detour {

SymbolCache::SymbolCache(const std::string &object, const std::string &buildId,
                         const SymbolSet &wanted)
    : count(wanted.size()) {
  const char *folder = getenv("ACTIONDBG_CACHE");
  struct stat status;
  if (!folder || !*folder || buildId.empty() ||
      stat(object.c_str(), &status) != 0)
    return;
  char hash[17];
  snprintf(hash, sizeof(hash), "%016llx",
           static_cast<unsigned long long>(wanted.hash()));
  path = std::string(folder) + "/symbols-" + buildId + "-" +
         std::to_string(status.st_size) + "-" + hash;
}

bool SymbolCache::read(SymbolPlaces &places) const {
  if (path.empty())
    return false;
  MappedFile file(path.c_str(), Writers::ThisUser);
  auto *kept = file.at<SymbolPlace>(0, count);
  if (!kept || file.at<char>(0, count * sizeof(SymbolPlace) + 1))
    return false;
  places.assign(kept, kept + count);
  return true;
}

void SymbolCache::write(const SymbolPlaces &places) const {
  if (path.empty())
    return;
  std::string draft = path + "." + std::to_string(getpid());
  int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return;
  size_t size = places.size() * sizeof(SymbolPlace);
  bool isWhole = ::write(fd, places.data(), size) == static_cast<ssize_t>(size);
  close(fd);
  if (!isWhole || rename(draft.c_str(), path.c_str()) != 0)
    unlink(draft.c_str());
}

} // namespace adbg::detour
