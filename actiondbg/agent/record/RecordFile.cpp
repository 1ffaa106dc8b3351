#include "record/RecordFile.h"
#include "observe/Observer.h"
#include "support/Locations.h"
#include "support/OwnFiles.h"

#include <sys/file.h>

namespace adbg {

static_assert(sizeof(ActionRow) == 20 && sizeof(LocationRow) == 20 &&
              sizeof(PatchRow) == 16 && sizeof(ReasonRow) == 8 &&
              sizeof(IRRow) == 24 && sizeof(StageRow) == 24 &&
              sizeof(ChunkHeader) == 64);

namespace {
/// The header of a section's items.
struct SectionHeader {
  uint16_t kind, size;
  uint32_t count, bytes, unused;
};

class ChunkParts {
public:
  void add(const void *from, size_t many) {
    static const char zeros[8] = {};
    if (many == 0)
      return;
    parts[used++] = {const_cast<void *>(from), many};
    sum(static_cast<const char *>(from), many);
    if (size_t rest = many % 8)
      parts[used++] = {const_cast<char *>(zeros), 8 - rest};
    bytes += (many + 7) / 8 * 8;
  }
  void add(const Part &part) {
    if (!part.count)
      return;
    SectionHeader &header = headers[sections++];
    header = {static_cast<uint16_t>(part.kind), part.size, part.count,
              static_cast<uint32_t>(part.bytes), 0};
    add(&header, sizeof(header));
    add(part.from, part.bytes);
  }

  SectionHeader headers[mostSections];
  struct iovec parts[1 + 4 * mostSections];
  unsigned used = 1, sections = 0;
  size_t bytes = sizeof(ChunkHeader);
  /// Checksum of the words after the chunk's header.
  uint64_t checksum = 0;

private:
  // A position-weighted sum: adding up the running sums weights each word by
  // its distance from the end, without a multiplication for each word.
  void sum(const char *from, size_t many) {
    uint64_t words = many / 8, total = 0, totals = 0;
    for (uint64_t i = 0; i < words; ++i) {
      total += wordAt(from + 8 * i, 8);
      totals += total;
    }
    checksum += total * (2 * (word + words) + 1) - 2 * totals;
    word += words;
    if (size_t rest = many % 8)
      checksum += wordAt(from + 8 * words, rest) * (2 * word++ + 1);
  }
  static uint64_t wordAt(const char *from, size_t many) {
    uint64_t value = 0;
    memcpy(&value, from, many);
    return value;
  }
  uint64_t word = sizeof(ChunkHeader) / 8;
};
} // namespace

void RecordFile::stopAt(std::string path, void (*stopped)()) {
  static const std::string *kept = nullptr;
  delete std::exchange(kept, new std::string(std::move(path)));
  limit = kept->c_str();
  onLimit = stopped;
}

void RecordFile::write(ChunkHeader header, const Part &first,
                       ArrayRef<Section *> others) {
  if (fd < 0)
    return;
  if (LLVM_UNLIKELY(limit != nullptr) && access(limit, F_OK) == 0) {
    onLimit();
    return abandon();
  }
  if (LLVM_UNLIKELY(!isOwn()) && !reopen())
    return abandon();
  ChunkParts gathered;
  gathered.add(first);
  for (Section *one : others)
    gathered.add(one->part());
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  header.nanoseconds = time.tv_sec * 1000000000ll + time.tv_nsec;
  header.ticks = Observer::now();
  header.bytes = gathered.bytes;
  header.sections = gathered.sections;
  header.checksum = gathered.checksum;
  uint64_t words[sizeof(header) / 8];
  memcpy(words, &header, sizeof(header));
  for (uint64_t i = 0; i < sizeof(header) / 8; ++i)
    if (i != 2)
      header.checksum += words[i] * (2 * i + 1);
  gathered.parts[0] = {&header, sizeof(header)};
  FileLimit sizes;
  ssize_t done;
  do
    done = writev(fd, gathered.parts, gathered.used);
  while (done < 0 && errno == EINTR);
  // A truncated chunk ends the file: readers would report anything after it as
  // damage.
  if (done != static_cast<ssize_t>(gathered.bytes)) {
    if (done >= 0) // a part of it
      errno = ENOSPC;
    if (onLimit)
      onLimit();
    abandon();
  }
}

void RecordFile::end() {
  // Another thread may be writing: the number must not become another file's.
  int none = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && none >= 0 && isOwn())
    dup2(none, ended = fd);
  if (none >= 0)
    close(none);
  fd = -1;
}

off_t RecordFile::size() {
  struct stat file;
  return fstat(fd, &file) == 0 ? file.st_size : -1;
}

void RecordFile::cutTo(off_t size) {
  if (size < 0 || ftruncate(fd, size) != 0)
    abandon();
}

void RecordFile::dropTornChunk() {
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  int readable = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat file;
  if (readable < 0 || fstat(readable, &file) != 0)
    return;
  constexpr off_t fileHeader = 16;
  off_t end = fileHeader;
  ChunkHeader header;
  while (pread(readable, &header, sizeof(header), end) == sizeof(header) &&
         StringRef(header.magic, 4) == "ADBC" && header.bytes &&
         end + off_t(header.bytes) <= file.st_size)
    end += header.bytes;
  close(readable);
  if (end < file.st_size && ftruncate(fd, end) != 0)
    abandon();
}

int openFar(const char *path, int flags) {
  int opened = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
  int far = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, 500);
  if (far < 0)
    return opened;
  close(opened);
  return far;
}

// Which file the recording is, and its path.
static struct stat opened;
static char openedPath[PATH_MAX];

bool RecordFile::isOwn() {
  struct stat now;
  return fstat(fd, &now) == 0 && now.st_dev == opened.st_dev &&
         now.st_ino == opened.st_ino;
}

bool RecordFile::reopen() {
  fd = openFar(openedPath, 0);
  return fd >= 0 && isOwn();
}

bool RecordFile::begin(const char *path, StringRef text) {
  if (ended >= 0)
    close(std::exchange(ended, -1));
  int created = openFar(path, O_CREAT);
  if (created < 0)
    return false;
  // Another process may have begun a recording of this name at the same time.
  bool isTaken = !isClaimed && flock(created, LOCK_EX | LOCK_NB) != 0 &&
                 errno == EWOULDBLOCK;
  if (isTaken || ftruncate(created, 0) != 0) {
    close(created);
    errno = isTaken ? EBUSY : errno;
    return false;
  }
  struct {
    char magic[8] = {'A', 'D', 'B', 'R', 'E', 'C', '\r', '\n'};
    uint32_t version = 1, unit = RecordFile::unit;
  } start;
  FileLimit sizes;
  if (::write(created, &start, sizeof(start)) != sizeof(start)) {
    close(created);
    return false;
  }
  fstat(created, &opened);
  if (!realpath(path, openedPath))
    openedPath[0] = 0;
  fd = created;
  ++begun;
  ChunkHeader chunk;
  chunk.base = Observer::now();
  write(chunk, Part{SectionKind::Header, 0, 1, text.data(), text.size()});
  return isOpen();
}

uint32_t Strings::of(Space space, StringRef text) {
  auto &[last, byHash] = known[static_cast<unsigned>(space)];
  uint64_t hash = llvm::xxh3_64bits(text);
  if (byHash.size() >= most)
    byHash.clear();
  auto [entry, isNew] = byHash.try_emplace(hash, last + 1);
  if (!isNew)
    return entry->second;
  struct {
    uint32_t id;
    uint16_t space, unused;
    uint32_t size;
  } item = {++last, static_cast<uint16_t>(space), 0,
            static_cast<uint32_t>(text.size())};
  section.add(item);
  section.append(text.data(), text.size());
  section.pad(4);
  return last;
}

LocationRow Strings::rowOf(Location location, uint32_t id, size_t most) {
  LocationRow row{id, 0, 0, 0, 0};
  if (std::optional<FilePlace> place = firstPlace(location)) {
    StringRef name = place->file.getValue();
    row.file = files.get(name, [&] { return of(Space::File, name); });
    row.line = place->line;
    row.col = place->column;
  }
  if (!isStrictFileLineColLoc(location) && !isa<UnknownLoc>(location)) {
    std::string text = printed(location);
    row.text = of(Space::Location, StringRef(text).take_front(most));
  }
  return row;
}

} // namespace adbg
