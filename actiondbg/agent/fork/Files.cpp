#include "fork/Files.h"
#include "interpose/Interpose.h"
#include "support/Connection.h"
#include "support/OwnFiles.h"

#include <dirent.h>
#include <sys/sysmacros.h>

using namespace adbg;

static Written writtenSoFar, mutedUpTo;

// The newest bytes written to stderr, in a ring: threads may write at a time.
static char errors[Files::keptErrors];
static std::atomic<size_t> errorsWritten{0};

static void keepErrors(const char *bytes, size_t size) {
  size_t begin = errorsWritten.fetch_add(size, std::memory_order_relaxed);
  size_t skipped = size - std::min(size, sizeof(errors));
  for (size_t i = skipped; i < size; ++i)
    errors[(begin + i) % sizeof(errors)] = bytes[i];
}

// Of one thread: others write where they wrote before.
static thread_local std::string *capturedErrors = nullptr;

std::string *Files::captureErrors(std::string *text) {
  return std::exchange(capturedErrors, text);
}

// Whether stderr leads nowhere for the text of an assertion.
static bool hidesAssertion = false;

void Files::showErrors() {
  if (std::exchange(hidesAssertion, false))
    SilentStreams::end();
}

// When this fork was made. Files are dated by a coarser clock, or since Linux
// 6.13 by this one.
static struct timespec forkedAt;

/// Whether a file is not for this process to remove: it is a fork that does not
/// replace the tool, and the file was there before. Files that do not exist
/// are left to the system. Kept are those without a date of birth, and those of
/// the tick in which the fork was made: an output file may be as old.
static bool isKept(int directory, const char *path) {
  if (!isFork() || !path)
    return false;
  int old = errno;
  struct statx file;
  bool exists =
      statx(directory, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &file) == 0;
  errno = old;
  if (!exists)
    return false;
  if (!(file.stx_mask & STATX_BTIME))
    return true;
  auto born = std::make_pair(int64_t(file.stx_btime.tv_sec),
                             int64_t(file.stx_btime.tv_nsec));
  return born <=
         std::make_pair(int64_t(forkedAt.tv_sec), int64_t(forkedAt.tv_nsec));
}

void Files::noteFork() { clock_gettime(CLOCK_REALTIME, &forkedAt); }

//===----------------------------------------------------------------------===//
// Counting output, and actions forbidden to forks
//===----------------------------------------------------------------------===//

ADBG_LIBC(ssize_t, writeCounted, "write", int fd, const void *bytes,
          size_t size) {
  static auto *next = real<decltype(writeCounted)>("write");
  if (fd != 1 && fd != 2)
    return next(fd, bytes, size);
  if (fd == 2 && LLVM_UNLIKELY(capturedErrors)) {
    std::string &text = *capturedErrors;
    text.append(static_cast<const char *>(bytes),
                std::min(size, text.capacity() - text.size()));
    return size;
  }
  if (fd == 2)
    keepErrors(static_cast<const char *>(bytes), size);
  uint64_t &count = writtenSoFar.bytes[fd - 1];
  // The tool may have sent a silent stream to a file of its own.
  uint64_t muted = SilentStreams::areSilent() ? 0 : mutedUpTo.bytes[fd - 1];
  size_t silent = count < muted ? std::min<uint64_t>(size, muted - count) : 0;
  count += silent;
  if (silent == size && size)
    return size;
  ssize_t done =
      next(fd, static_cast<const char *>(bytes) + silent, size - silent);
  if (done > 0)
    count += done;
  if (done < 0)
    return silent ? static_cast<ssize_t>(silent) : done;
  return silent + done;
}

/// Whether the next bytes of stdout or stderr were shown before.
static bool isSilenced(int fd) {
  return !SilentStreams::areSilent() &&
         writtenSoFar.bytes[fd - 1] < mutedUpTo.bytes[fd - 1];
}

/// Counts the first `size` bytes of `parts` if they are of stdout or stderr.
static void noteWritten(int fd, const struct iovec *parts, ssize_t size) {
  if (fd != 1 && fd != 2)
    return;
  for (; size > 0; ++parts) {
    size_t part = std::min<size_t>(size, parts->iov_len);
    if (fd == 2)
      keepErrors(static_cast<const char *>(parts->iov_base), part);
    writtenSoFar.bytes[fd - 1] += part;
    size -= part;
  }
}

ADBG_LIBC(ssize_t, writeManyCounted, "writev", int fd,
          const struct iovec *parts, int count) {
  static auto *next = real<decltype(writeManyCounted)>("writev");
  // In one piece: what other writers of a pipe write must not come between.
  bool isWhole = (fd != 1 && fd != 2) || (!isSilenced(fd) && !capturedErrors);
  if (isWhole) {
    ssize_t done = next(fd, parts, count);
    noteWritten(fd, parts, done);
    return done;
  }
  ssize_t total = 0;
  for (int i = 0; i < count; ++i) {
    ssize_t done = writeCounted(fd, parts[i].iov_base, parts[i].iov_len);
    if (done < 0)
      return total ? total : done;
    total += done;
    if (static_cast<size_t>(done) < parts[i].iov_len)
      break;
  }
  return total;
}

// The text of an assertion is written by the C library itself, which does not
// call write: it is counted here, and goes nowhere where it is to be silent.
ADBG_LIBC(void, failAssertion, "__assert_fail", const char *assertion,
          const char *file, unsigned line, const char *function) {
  static auto *next = real<decltype(failAssertion)>("__assert_fail");
  int size = snprintf(nullptr, 0, "%s: %s:%u: %s: Assertion `%s' failed.\n",
                      program_invocation_short_name, file, line,
                      function ? function : "", assertion);
  if (isSilenced(2)) {
    SilentStreams::begin({false, true}, SilentStreams::noEvent);
    hidesAssertion = true;
  }
  writtenSoFar.bytes[1] += std::max(size, 0);
  next(assertion, file, line, function);
}

// A tool that fails removes its output file by name, and a program its
// temporary ones: a fork that does not replace the tool removes only what it
// has made.

#define ADBG_REMOVAL(NAME, SYMBOL)                                             \
  ADBG_LIBC(int, NAME, SYMBOL, const char *path) {                             \
    static auto *next = real<decltype(NAME)>(SYMBOL);                          \
    return isKept(AT_FDCWD, path) ? 0 : next(path);                            \
  }

ADBG_REMOVAL(removeFile, "remove")
ADBG_REMOVAL(unlinkFile, "unlink")
ADBG_REMOVAL(removeDirectory, "rmdir")

ADBG_LIBC(int, unlinkFileAt, "unlinkat", int directory, const char *path,
          int flags) {
  static auto *next = real<decltype(unlinkFileAt)>("unlinkat");
  return isKept(directory, path) ? 0 : next(directory, path, flags);
}

namespace adbg {

const Written &Files::written() { return writtenSoFar; }

size_t Files::lastErrors(char *to) {
  size_t end = errorsWritten.load(std::memory_order_relaxed);
  size_t size = std::min(end, sizeof(errors));
  for (size_t i = 0; i < size; ++i)
    to[i] = errors[(end - size + i) % sizeof(errors)];
  return size;
}

void Files::mute(const ShownOutput &shown, ArrayRef<int> shared) const {
  mutedUpTo = Written(); // what a parent was silent for was on its timeline
  bool isMuted[2] = {false, false};
  for (int fd : {1, 2}) {
    if (const Open *one = find(fd);
        one && one->isOwn && !llvm::is_contained(shared, fd))
      continue;
    mutedUpTo.bytes[fd - 1] = shown.written.bytes[fd - 1];
    isMuted[fd - 1] = shown.event != 0;
  }
  SilentStreams::begin(isMuted, shown.event);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::string linkOf(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

void Files::note() {
  std::vector<Open> before = std::exchange(open, {});
  DIR *all = opendir("/proc/self/fd");
  if (!all)
    return;
  while (struct dirent *entry = readdir(all)) {
    int number = static_cast<int>(strtol(entry->d_name, nullptr, 10));
    struct stat file;
    if (entry->d_name[0] == '.' || number == dirfd(all) ||
        fstat(number, &file) != 0 || !S_ISREG(file.st_mode))
      continue;
    int fd = SilentStreams::keptFor(number);
    open.push_back({fd, fcntl(number, F_GETFL), file.st_dev, file.st_ino,
                    file.st_mode, lseek(number, 0, SEEK_CUR), file.st_size,
                    readLink(linkOf(number))});
    Open &one = open.back();
    if (!one.isNamed())
      one.path.clear(); // such as "NAME (deleted)"
    for (const Open &old : before)
      if (old.fd == fd && old.inode == one.inode && old.device == one.device)
        one.keep(old);
  }
  closedir(all);
  std::ranges::sort(open,
                    [](const Open &a, const Open &b) { return a.fd < b.fd; });
}

const Files::Open *Files::find(int fd) const {
  for (const Open &one : open)
    if (one.fd == fd)
      return &one;
  return nullptr;
}

/// Copies the first `size` bytes of the file that `fd` refers to.
static bool copyTo(int target, int fd, off_t size) {
  // `fd` may be write-only: reopen the file for reading.
  int source = ::open(linkOf(fd).c_str(), O_RDONLY | O_CLOEXEC);
  static char chunk[65536];
  off_t at = 0;
  while (source >= 0 && at < size) {
    ssize_t got =
        pread(source, chunk, std::min<off_t>(sizeof(chunk), size - at), at);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0 || pwrite(target, chunk, got, at) != got)
      break;
    at += got;
  }
  if (source >= 0)
    close(source);
  return at >= size;
}

bool Files::Open::isWritten() const { return (flags & O_ACCMODE) != O_RDONLY; }

/// Whether its name still leads to it.
bool Files::Open::isNamed() const {
  struct stat now;
  return !path.empty() && ::stat(path.c_str(), &now) == 0 &&
         now.st_dev == device && now.st_ino == inode;
}

void Files::Open::keep(const Open &old) {
  // The first name: somebody else may have moved the file since.
  if (!old.path.empty())
    path = old.path;
  if (!old.isOwn)
    return;
  // Not settled yet: the file still ends with output of the abandoned timeline,
  // or is a private copy.
  isOwn = true;
  original = old.original;
  mode = old.mode;
  size = std::max(old.size, offset);
}

void Files::Open::refer(int to) {
  struct stat file;
  if (dup2(to, fd) < 0 || fstat(fd, &file) != 0)
    return;
  device = file.st_dev;
  inode = file.st_ino;
}

/// Whether both are the same open file description, as after 2>&1.
bool Files::Open::isSameAs(const Open &other) const {
  return device == other.device && inode == other.inode &&
         offset == other.offset && flags == other.flags;
}

/// Opens the file again, or a private copy of it; returns -1 on failure.
int Files::Open::reopen(bool isOtherTimeline) const {
  bool isPrivate =
      isWritten() && !path.empty() && (isOtherTimeline || !isNamed());
  if (!isPrivate)
    return ::open(linkOf(fd).c_str(),
                  (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC);
  int copy = memfd_create("actiondbg-output", MFD_CLOEXEC);
  if (copy >= 0 && !copyTo(copy, fd, size)) {
    close(copy);
    return -1;
  }
  return copy;
}

void Files::reopen(ArrayRef<int> shared, bool isOtherTimeline) {
  for (Open &one : open)
    one.isOwn = false;
  for (Open &one : open) {
    // Another process may append to the same file.
    if (llvm::is_contained(shared, one.fd) || (one.flags & O_APPEND))
      continue;
    one.original = -1;
    for (const Open &other : open)
      if (other.isOwn && other.isSameAs(one))
        one.original = other.original < 0 ? other.fd : other.original;
    int fd = one.original < 0 ? one.reopen(isOtherTimeline) : dup(one.original);
    if (fd < 0)
      continue;
    lseek(fd, one.offset, SEEK_SET);
    one.isOwn = dup2(fd, one.fd) >= 0;
    close(fd);
  }
  for (Open &one : open)
    if (one.isOwn)
      one.refer(one.fd);
}

/// Gives the name to a file with the first `size` bytes of this one, and refers
/// to that. Whatever has the name now, the tool would have truncated it.
bool Files::Open::remake(off_t size) {
  int named = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode & 07777);
  struct stat file;
  if (named < 0 || fstat(named, &file) != 0)
    return false;
  bool isDone = S_ISREG(file.st_mode) && copyTo(named, fd, size) &&
                ftruncate(named, size) == 0;
  if (isDone) {
    lseek(named, lseek(fd, 0, SEEK_CUR), SEEK_SET);
    refer(named);
  }
  int old = errno;
  close(named);
  errno = old;
  return isDone;
}

SettledFiles Files::settle() {
  SettledFiles settled;
  for (Open &one : open) {
    if (!std::exchange(one.isOwn, false) || !one.isWritten())
      continue;
    if (one.original >= 0) { // settled before, as descriptors are in order
      one.refer(one.original);
      continue;
    }
    off_t size = std::max(one.size, lseek(one.fd, 0, SEEK_CUR));
    errno = 0;
    if (one.path.empty() || one.isNamed()) {
      if (ftruncate(one.fd, size) != 0)
        continue;
    } else if (one.remake(size)) {
      settled.remade.push_back(one.path);
    } else {
      settled.lost.push_back("The output file '" + one.path +
                             "' cannot be written (" +
                             (errno ? strerror(errno) : "not a regular file") +
                             "): its output is lost.");
    }
  }
  return settled;
}

void Files::follow(ArrayRef<std::string> remade) {
  for (Open &one : open) {
    if (!one.isWritten() || !llvm::is_contained(remade, one.path) ||
        one.isNamed())
      continue;
    int named = ::open(one.path.c_str(), O_RDWR | O_CLOEXEC);
    if (named < 0)
      continue;
    one.refer(named);
    close(named);
  }
}

bool Files::sendTo(int fd, const std::string &path) const {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return false;
  const Open *old = find(fd);
  bool isCopied = !old || copyTo(file, fd, old->size);
  dup2(file, fd);
  close(file);
  lseek(fd, old ? old->offset : 0, SEEK_SET);
  return isCopied;
}

bool Files::redirect(const Outputs &outputs) {
  // The tool may keep writing meanwhile: use the offsets noted before the fork.
  if (outputs.isEmpty())
    return true;
  bool isDone = true;
  for (int fd : {1, 2})
    if (!outputs.standard[fd - 1].empty())
      isDone &= sendTo(fd, outputs.standard[fd - 1]);
  unsigned number = 0;
  for (const Open &one : open)
    if (!outputs.others.empty() && one.isWritten() && one.fd > 2)
      isDone &= sendTo(one.fd, ++number == 1 ? outputs.others
                                             : outputs.others + "." +
                                                   std::to_string(number));
  note();
  return isDone;
}

void Files::discard() {
  int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  struct stat input, streams[2] = {};
  for (int fd : {1, 2})
    fstat(fd, &streams[fd - 1]);
  if (fstat(0, &input) == 0 && !S_ISREG(input.st_mode))
    dup2(null, 0);
  dup2(null, 1);
  dup2(null, 2);
  // The tool's open files are shared with it too, and so are duplicates of its
  // streams.
  for (int file = 3; file < 1024; ++file) {
    struct stat one;
    if (file == null || fstat(file, &one) != 0 ||
        (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY)
      continue;
    bool isStream =
        std::ranges::any_of(streams, [&](const struct stat &stream) {
          return stream.st_dev == one.st_dev && stream.st_ino == one.st_ino;
        });
    if (S_ISREG(one.st_mode) || isStream)
      dup2(null, file);
  }
}

//===----------------------------------------------------------------------===//
// Streams that lead nowhere for a while
//===----------------------------------------------------------------------===//

static constexpr int mostDescriptors = 1024;
// The tool numbers its own files as without the agent.
static constexpr int firstAside = 200;
// The descriptors of each stream are recognised by flags that no other
// descriptor of /dev/null has: the tool may duplicate them.
static constexpr int silentFlags[2] = {
    O_WRONLY | O_APPEND | O_NONBLOCK | O_DSYNC,
    O_WRONLY | O_APPEND | O_NONBLOCK | O_SYNC};

uint64_t SilentStreams::until = noEvent;

// Where stdout and stderr lead, while they lead nowhere; else -1.
static int aside[2] = {-1, -1};

/// Makes `fd` refer to another file; whether it outlives an exec stays the
/// same.
static void referTo(int fd, int to) {
  dup3(to, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
}

static bool isSilent(int fd, int stream) {
  struct stat file;
  return (fcntl(fd, F_GETFL) & (silentFlags[1] | O_ACCMODE)) ==
             silentFlags[stream] &&
         fstat(fd, &file) == 0 && S_ISCHR(file.st_mode) &&
         file.st_rdev == makedev(1, 3);
}

/// Makes the buffer of stdout. The C library chooses the kind of buffer by the
/// file, before that is /dev/null: the replaced process had the same buffer.
static void makeBuffer() {
  static auto *make =
      reinterpret_cast<void (*)(FILE *)>(dlsym(RTLD_DEFAULT, "_IO_doallocbuf"));
  if (make && !stdout->_IO_buf_base)
    make(stdout);
}

static void silence(int stream) {
  int fd = stream + 1;
  struct stat own, other;
  int nowhere = ::open("/dev/null", silentFlags[stream] | O_CLOEXEC);
  if (nowhere >= 0 && fstat(fd, &own) == 0)
    aside[stream] = fcntl(fd, F_DUPFD_CLOEXEC, firstAside);
  if (aside[stream] < 0) {
    close(nowhere);
    return;
  }
  int flags = fcntl(fd, F_GETFL);
  referTo(fd, nowhere);
  for (int copy = 3; copy < mostDescriptors; ++copy)
    if (copy != aside[0] && copy != aside[1] && fcntl(copy, F_GETFL) == flags &&
        fstat(copy, &other) == 0 && other.st_dev == own.st_dev &&
        other.st_ino == own.st_ino && (flags & O_ACCMODE) != O_RDONLY)
      referTo(copy, nowhere);
  close(nowhere);
}

void SilentStreams::begin(const bool (&streams)[2], uint64_t event) {
  if (streams[0])
    makeBuffer();
  for (int stream : {0, 1})
    if (streams[stream])
      silence(stream);
  if (areSilent())
    until = event;
}

void SilentStreams::end() {
  until = noEvent;
  for (int stream : {0, 1}) {
    int from = std::exchange(aside[stream], -1);
    if (from < 0)
      continue;
    // The tool may have redirected the stream itself meanwhile.
    for (int fd = 1; fd < mostDescriptors; ++fd)
      if (isSilent(fd, stream))
        referTo(fd, from);
    close(from);
  }
}

bool SilentStreams::areSilent() { return aside[0] >= 0 || aside[1] >= 0; }

int SilentStreams::shown(int fd) {
  return (fd == 1 || fd == 2) && aside[fd - 1] >= 0 ? aside[fd - 1] : fd;
}

int SilentStreams::keptFor(int fd) {
  for (int stream : {0, 1})
    if (fd == aside[stream])
      return stream + 1;
  return fd;
}

} // namespace adbg

// Colours and buffers depend on whether a stream is a terminal: silent output
// has to be that which was shown.
ADBG_LIBC(int, isTerminal, "isatty", int fd) {
  static auto *next = real<decltype(isTerminal)>("isatty");
  return next(SilentStreams::shown(fd));
}
