//===- Connection.h - The socket to the front end ---------------*- C++ -*-===//

#ifndef ACTIONDBG_CONNECTION_H
#define ACTIONDBG_CONNECTION_H

#include "llvm/Support/JSON.h"
#include <csignal>
#include <optional>
#include <string>

namespace adbg {

/// The stream of messages to and from the front end. When the front end goes
/// away the tool ends: nobody is there any more to answer its stops.
class Connection {
public:
  /// Connects to the socket at `path`, or ends the process with a sentence.
  void open(const std::string &path);
  bool isOpen() const { return fd >= 0; }
  /// Forgets the socket: in a fork of the tool that is not ours.
  void abandon();

  void send(const llvm::json::Value &message);
  void notify(llvm::StringRef method, llvm::json::Object params);
  /// Sends bytes as they are; async-signal-safe.
  void sendRaw(const char *bytes, size_t size);

  /// Waits for the next line. Ends the process when the front end is gone.
  std::string receive();
  /// Returns a line that has already arrived, if there is one.
  std::optional<std::string> poll();

  /// Whether something arrived since the tool went on: looked at before each
  /// action, set by a signal, so that it costs one load.
  static volatile std::sig_atomic_t arrived;

  /// Called in the signal handler, when an interrupt has arrived that is not to
  /// wait for the next action, at a moment when the heap is whole.
  static void (*onForce)();

private:
  bool fill(bool wait);
  std::optional<std::string> takeLine();

  int fd = -1;
  std::string buffer;
  size_t scanned = 0;
};

/// Ends the process as an interrupt would: files that the tool was writing are
/// removed by LLVM's own handlers. In a fork they are not: they are the tool's.
[[noreturn]] void endProcess();
/// Whether this process is a fork that does not take the tool's place.
void setFork(bool is);
bool isFork();

} // namespace adbg

#endif // ACTIONDBG_CONNECTION_H
