//===- Connection.h - The socket to the front end ---------------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"
#include "llvm/Support/JSON.h"

namespace adbg {

// The protocol's error codes (docs/protocol.md, Errors).
enum ErrorCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  NoSuchMethod = -32601,
  InvalidParams = -32602,
  NotStopped = -32001,
  NoSuchUnit = -32002,
  UnitErased = -32003,
  ControlRefused = -32004,
  FileNotWritten = -32005,
  NoAnswer = -32006,
  EditRefused = -32007,
};

/// The error that refuses a request.
struct RequestError {
  int code;
  std::string message;

  RequestError(int code, std::string message)
      : code(code), message(std::move(message)) {}
};
inline Json toJSON(const RequestError &error) {
  return Object{{"code", error.code}, {"message", error.message}};
}

/// A line from the front end, parsed into method, id and parameters.
struct Envelope {
  Json id = nullptr;
  std::string method;
  Object params;
  /// Set if the line is not a valid request.
  std::optional<RequestError> error;

  static Envelope open(StringRef line);
  bool isInterrupt() const { return method == "interrupt"; }
};

/// Returns the answer to a request: `kind` is `result` or `error`.
Json answerMessage(Json id, StringRef kind, Json content);

/// The stream of messages to and from the front end. The tool ends when the
/// front end closes the connection: nothing could answer its stops.
class Connection {
public:
  /// Connects to the socket at `path`; ends the process with an error message
  /// on failure.
  void open(const std::string &path);
  bool isOpen() const { return fd >= 0; }
  /// Drops the socket, in a fork that the tool itself made.
  void abandon();

  void send(const Json &message);
  void notify(StringRef method, Object params);
  /// Sends raw bytes; async-signal-safe.
  void sendRaw(const char *bytes, size_t size);

  /// Waits for the next line. When the front end closes the connection, ends
  /// the process, or returns an empty line if it goes on.
  std::string receive();
  /// Returns a line that has already arrived, if there is one.
  std::optional<std::string> poll();

  /// Whether data arrived since the tool was resumed. Read before each action,
  /// and set by a signal handler, so that it costs one load.
  static inline volatile std::sig_atomic_t arrived = 0;

  /// Called in the signal handler for a forced interrupt, which does not wait
  /// for the next action, at a moment when the heap is consistent.
  static inline void (*onForce)() = nullptr;
  /// Called when the front end has ended; null if the process ends with it.
  static inline void (*onGone)() = nullptr;
  /// Called when the tool has closed the socket, or taken its descriptor.
  static inline void (*onLost)() = nullptr;
  /// Called in the signal handler: passes it on if another thread is to stop.
  static inline bool (*passesOn)() = nullptr;

private:
  /// `error`: of the call that failed; 0 at the end of the stream.
  void gone(int error);
  bool fill(bool wait);
  std::optional<std::string> takeLine();

  int fd = -1;
  std::string buffer;
  size_t scanned = 0;
};

/// Ends the process as an interrupt would: LLVM's handlers remove the files
/// that the tool was writing. A fork leaves them: they belong to the tool.
[[noreturn]] void endProcess();
/// Marks this process as a fork that does not replace the tool.
void setFork(bool is);
bool isFork();

} // namespace adbg
