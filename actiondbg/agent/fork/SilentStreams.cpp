#include "fork/Files.h"
#include "interpose/Interpose.h"

#include <sys/sysmacros.h>

namespace adbg {

static constexpr uint64_t noEvent = std::numeric_limits<uint64_t>::max();
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
  static auto *next = adbg::real<decltype(isTerminal)>("isatty");
  return next(adbg::SilentStreams::shown(fd));
}
