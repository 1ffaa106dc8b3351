//===- raw_ostream.cpp - Streams of text ----------------------------------===//

#include "llvm/Support/raw_ostream.h"
#include "support/OwnFiles.h"

namespace llvm {

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

raw_ostream::~raw_ostream() {
  if (bufferKind == BufferKind::InternalBuffer)
    delete[] bufferStart;
}

// Where the table of virtual functions is emitted, as in LLVM.
void raw_ostream::anchor() {}

size_t raw_ostream::preferred_buffer_size() const { return 4096; }
raw_ostream &raw_ostream::changeColor(Colors, bool, bool) { return *this; }
raw_ostream &raw_ostream::resetColor() { return *this; }
raw_ostream &raw_ostream::reverseColor() { return *this; }

void raw_ostream::setBuffered(size_t size) {
  bufferKind = BufferKind::InternalBuffer;
  bufferStart = bufferNext = new char[size];
  bufferEnd = bufferStart + size;
}

void raw_ostream::flushBuffer() {
  size_t size = bufferNext - bufferStart;
  bufferNext = bufferStart;
  write_impl(bufferStart, size);
}

raw_ostream &raw_ostream::writeSlowly(const char *text, size_t size) {
  if (!bufferStart && bufferKind != BufferKind::Unbuffered)
    setBuffered(preferred_buffer_size());
  flush();
  if (size >= size_t(bufferEnd - bufferStart))
    write_impl(text, size);
  else
    write(text, size);
  return *this;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename Number>
static raw_ostream &writeNumber(raw_ostream &os, Number number,
                                int radix = 10) {
  char digits[24];
  auto written = std::to_chars(digits, std::end(digits), number, radix);
  return os.write(digits, written.ptr - digits);
}

raw_ostream &raw_ostream::operator<<(unsigned long long number) {
  return writeNumber(*this, number);
}
raw_ostream &raw_ostream::operator<<(long long number) {
  return writeNumber(*this, number);
}
raw_ostream &raw_ostream::operator<<(const void *address) {
  return writeNumber(*this << "0x", reinterpret_cast<uintptr_t>(address), 16);
}
raw_ostream &raw_ostream::operator<<(double number) {
  char digits[40];
  return write(digits, std::snprintf(digits, sizeof(digits), "%e", number));
}
raw_ostream &raw_ostream::indent(unsigned spaces) {
  for (; spaces; --spaces)
    *this << ' ';
  return *this;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

raw_fd_ostream::raw_fd_ostream(StringRef path, std::error_code &error,
                               sys::fs::OpenFlags flags)
    : raw_ostream(/*isUnbuffered=*/false, OStreamKind::OK_FDStream),
      isOwned(true) {
  int mode = O_WRONLY | O_CREAT | O_CLOEXEC |
             (flags & sys::fs::OF_Append ? O_APPEND : O_TRUNC);
  do
    fd = ::open(path.str().c_str(), mode, 0666);
  while (fd < 0 && errno == EINTR);
  error = fd < 0 ? std::error_code(errno, std::generic_category())
                 : std::error_code();
  failure = error;
}

raw_fd_ostream::raw_fd_ostream(int fd, bool shouldClose, bool isUnbuffered)
    : raw_ostream(isUnbuffered, OStreamKind::OK_FDStream), fd(fd),
      isOwned(shouldClose) {}

raw_fd_ostream::~raw_fd_ostream() { close(); }

void raw_fd_ostream::close() {
  flush();
  if (isOwned && fd >= 0 && ::close(fd) != 0 && !failure)
    failure = std::error_code(errno, std::generic_category());
  if (isOwned)
    fd = -1;
}

void raw_fd_ostream::write_impl(const char *text, size_t size) {
  position += size;
  adbg::FileLimit limit;
  while (size && fd >= 0) {
    ssize_t done = ::write(fd, text, size);
    if (done < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (done < 0) {
      failure = std::error_code(errno, std::generic_category());
      return;
    }
    text += done;
    size -= done;
  }
}

raw_fd_ostream &errs() {
  static auto *stream = new raw_fd_ostream(2, false, /*isUnbuffered=*/true);
  return *stream;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

raw_string_ostream::~raw_string_ostream() = default;
void raw_string_ostream::write_impl(const char *more, size_t size) {
  text.append(more, size);
}

} // namespace llvm
