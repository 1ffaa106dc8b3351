//===- Engine.h - The stream of actions and where it stops ------*- C++ -*-===//

#ifndef ACTIONDBG_ENGINE_H
#define ACTIONDBG_ENGINE_H

#include "Connection.h"
#include "Frame.h"
#include "Match.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"
#include <unistd.h>

namespace adbg {

enum class Control : uint8_t { Continue, Apply, Skip, Step, Next, Finish };

/// What the front end answered at a stop, and how far it has been followed.
struct Resumption {
  Control control = Control::Continue;
  uint64_t count = 1;
  /// Depth of the action at which it was answered, and on which side of it.
  unsigned depth = 0;
  bool wasOver = false;
  /// Nothing was dispatched before: the very first stop is a start.
  bool fromStart = false;
  std::optional<Spec> until;
  bool within = false;
};

/// Follows the actions of one process, in the thread that made its first
/// context. Actions of other threads pass unseen.
class Engine {
public:
  static Engine &get();

  /// Connects, says hello and serves the first requests. Called once, when the
  /// tool makes its first context, if the agent was asked to attach.
  void attach(const std::string &socket);
  /// Whether this thread's actions are followed now.
  bool follows() const { return attached && ownsThread() && !serving; }

  /// Runs `frame`'s action, unless it is skipped, stopping as asked.
  void dispatch(Frame &frame, llvm::function_ref<void()> run);

  /// An operation is about to be destroyed, or was replaced by `by`.
  void erased(mlir::Operation *op);
  void replaced(mlir::Operation *op, mlir::Operation *by);
  bool hasFrames() const { return innermost != nullptr; }

  // What requests work on; valid while the tool is stopped.
  Frame *innermost = nullptr;
  Frame *selected = nullptr;
  mlir::IRUnit cursor;
  std::vector<Breakpoint> breakpoints;
  /// To be told to forget when the breakpoints change.
  Candidates candidates;
  Resumption resumption;
  uint64_t ordinal = 0;
  unsigned contexts = 0;
  bool askedForThreads = false;
  llvm::StringSet<> patternNames, passNames, tags;

  Frame *frameAt(int64_t index) const;
  /// Puts the cursor on the selected frame's operation.
  void resetCursor();
  void sendCrash();
  void sendExit();
  /// In a fork of the tool that is not ours: be as if not there.
  void abandon();

private:
  bool ownsThread() const;
  void stopBefore(Frame &frame);
  void stopAfter(Frame &frame);
  bool interrupted();
  bool hitsBreakpoint(Frame &frame, llvm::SmallVectorImpl<int> &hit);
  /// Whether the count of the resumption is used up by this event.
  bool usesUp(const Frame &frame, bool over);
  void stop(Frame &frame, llvm::StringRef reason, llvm::ArrayRef<int> hit);
  void serve();
  void remember(const Frame &frame);
  void refuseWhileRunning(llvm::StringRef line);

  Connection connection;
  bool attached = false;
  bool serving = false;
  pid_t pid = 0;
};

/// Answers one request line; `resumed` is set when the tool is to go on.
/// Returns nothing for a notification.
std::optional<llvm::json::Value> answer(Engine &engine, llvm::StringRef line,
                                        bool &resumed);

} // namespace adbg

#endif // ACTIONDBG_ENGINE_H
