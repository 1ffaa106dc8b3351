//===- raw_ostream.h - Streams of text --------------------------*- C++ -*-===//
//
// The tool's printer writes to streams of the agent: through the pointers to
// the buffer, inlined, and through its own raw_ostream::write, which calls the
// virtual functions. So the order of the members and of the virtual functions
// is that of the tool: the same since 19, but for the last members.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/StringRef.h"

namespace llvm {

namespace sys::fs {
enum OpenFlags : unsigned { OF_None = 0, OF_Append = 4 };
} // namespace sys::fs

class raw_ostream {
public:
  enum class OStreamKind { OK_OStream, OK_FDStream };
  enum class Colors { BLACK, RESET = 17 };

private:
  enum class BufferKind { Unbuffered, InternalBuffer, ExternalBuffer };

  OStreamKind kind;
  char *bufferStart = nullptr, *bufferEnd = nullptr, *bufferNext = nullptr;
  bool hasColors = false;
  BufferKind bufferKind;
  /// Until early in LLVM 19 there was a stream to flush before this one, and
  /// the kind of the buffer was behind it.
  raw_ostream *tied = nullptr;
  BufferKind olderBufferKind;

public:
  explicit raw_ostream(bool isUnbuffered = false,
                       OStreamKind kind = OStreamKind::OK_OStream)
      : kind(kind), bufferKind(isUnbuffered ? BufferKind::Unbuffered
                                            : BufferKind::InternalBuffer),
        olderBufferKind(bufferKind) {}
  raw_ostream(const raw_ostream &) = delete;
  raw_ostream &operator=(const raw_ostream &) = delete;

  virtual ~raw_ostream();
  virtual void reserveExtraSpace(uint64_t) {}

  uint64_t tell() const { return current_pos() + (bufferNext - bufferStart); }
  void flush() {
    if (bufferNext != bufferStart)
      flushBuffer();
  }

  raw_ostream &write(const char *text, size_t size) {
    if (LLVM_UNLIKELY(size > size_t(bufferEnd - bufferNext)))
      return writeSlowly(text, size);
    if (size)
      std::memcpy(bufferNext, text, size);
    bufferNext += size;
    return *this;
  }
  raw_ostream &write(unsigned char c) {
    char one = static_cast<char>(c);
    return write(&one, 1);
  }
  raw_ostream &operator<<(char c) { return write(&c, 1); }
  raw_ostream &operator<<(unsigned char c) { return write(c); }
  raw_ostream &operator<<(signed char c) { return write(c); }
  raw_ostream &operator<<(StringRef text) {
    return write(text.data(), text.size());
  }
  raw_ostream &operator<<(const char *text) { return *this << StringRef(text); }
  raw_ostream &operator<<(unsigned long long number);
  raw_ostream &operator<<(long long number);
  template <typename T>
    requires std::is_integral_v<T>
  raw_ostream &operator<<(T number) {
    return *this << static_cast<std::conditional_t<
               std::is_signed_v<T>, long long, unsigned long long>>(number);
  }
  raw_ostream &operator<<(const void *address);
  raw_ostream &operator<<(double number);
  raw_ostream &indent(unsigned spaces);

  virtual raw_ostream &changeColor(Colors, bool isBold = false,
                                   bool isBackground = false);
  virtual raw_ostream &resetColor();
  virtual raw_ostream &reverseColor();
  virtual bool is_displayed() const { return false; }
  virtual bool has_colors() const { return is_displayed(); }
  virtual void enable_colors(bool enable) { hasColors = enable; }

private:
  /// Writes what the buffer held, or what did not fit.
  virtual void write_impl(const char *text, size_t size) = 0;
  /// The position without what is in the buffer.
  virtual uint64_t current_pos() const = 0;

protected:
  virtual size_t preferred_buffer_size() const;
  /// Uses a buffer that the stream allocates.
  void setBuffered(size_t size);

private:
  virtual void anchor();

  void flushBuffer();
  raw_ostream &writeSlowly(const char *text, size_t size);
};

/// A stream without a name, as itself.
template <typename Stream, typename T>
std::enable_if_t<!std::is_reference_v<Stream> &&
                     std::is_base_of_v<raw_ostream, Stream>,
                 Stream &&>
operator<<(Stream &&os, const T &value) {
  os << value;
  return static_cast<Stream &&>(os);
}

/// Writes to a file, which an error does not end: it is kept.
class raw_fd_ostream : public raw_ostream {
  int fd = -1;
  bool isOwned = false;
  std::error_code failure;
  uint64_t position = 0;

  void write_impl(const char *text, size_t size) override;
  uint64_t current_pos() const override { return position; }

public:
  /// Opens a file to write to, from its beginning or at its end.
  raw_fd_ostream(StringRef path, std::error_code &error,
                 sys::fs::OpenFlags flags = sys::fs::OF_None);
  raw_fd_ostream(int fd, bool shouldClose, bool isUnbuffered = false);
  ~raw_fd_ostream() override;

  void close();
  std::error_code error() const { return failure; }
  bool has_error() const { return static_cast<bool>(failure); }
  void clear_error() { failure = {}; }
};

/// Standard error, unbuffered.
raw_fd_ostream &errs();

/// Writes to a string, which is always up to date.
class raw_string_ostream : public raw_ostream {
  std::string &text;

  void write_impl(const char *more, size_t size) override;
  uint64_t current_pos() const override { return text.size(); }

public:
  explicit raw_string_ostream(std::string &text)
      : raw_ostream(/*isUnbuffered=*/true), text(text) {}
  ~raw_string_ostream() override;

  std::string &str() { return text; }
  void reserveExtraSpace(uint64_t size) override {
    text.reserve(text.size() + size);
  }
};

} // namespace llvm
