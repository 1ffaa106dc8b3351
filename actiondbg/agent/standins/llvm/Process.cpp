//===- Process.cpp - Files, threads and the tool's own LLVM ---------------===//

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// Functions of the tool's LLVM, null where it has none
//===----------------------------------------------------------------------===//

__attribute__((weak)) llvm::raw_ostream &
toolOutput() __asm__("_ZN4llvm4outsEv");
__attribute__((weak)) void
toolInterruptHandlers() __asm__("_ZN4llvm3sys20RunInterruptHandlersEv");
__attribute__((weak)) llvm::CrashRecoveryContext *
toolCrashRecovery() __asm__("_ZN4llvm20CrashRecoveryContext10GetCurrentEv");

namespace llvm {

raw_ostream &outs() { return toolOutput ? toolOutput() : nulls(); }

void sys::RunInterruptHandlers() {
  if (toolInterruptHandlers)
    toolInterruptHandlers();
}

CrashRecoveryContext *CrashRecoveryContext::GetCurrent() {
  return toolCrashRecovery ? toolCrashRecovery() : nullptr;
}

//===----------------------------------------------------------------------===//
// Files and threads
//===----------------------------------------------------------------------===//

ErrorOr<std::unique_ptr<MemoryBuffer>>
MemoryBuffer::getFileAsStream(const Twine &path) {
  int fd = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::error_code(errno, std::generic_category());
  std::string text;
  char chunk[16384];
  ssize_t size;
  int error = 0;
  while ((size = ::read(fd, chunk, sizeof(chunk))) != 0) {
    if (size > 0) {
      text.append(chunk, size);
    } else if (errno != EINTR) {
      error = errno;
      break;
    }
  }
  ::close(fd);
  if (error)
    return std::error_code(error, std::generic_category());
  return std::make_unique<MemoryBuffer>(std::move(text));
}

uint64_t get_threadid() { return ::syscall(SYS_gettid); }

void get_thread_name(SmallVectorImpl<char> &name) {
  char buffer[64] = {};
  ::pthread_getname_np(::pthread_self(), buffer, sizeof(buffer));
  StringRef text = buffer;
  name.assign(text.begin(), text.end());
}

void report_bad_alloc_error(const char *reason, bool) {
  for (StringRef part : {StringRef("LLVM ERROR: out of memory\n"),
                         StringRef(reason), StringRef("\n")})
    if (::write(2, part.data(), part.size()) < 0)
      break;
  std::abort();
}

} // namespace llvm
