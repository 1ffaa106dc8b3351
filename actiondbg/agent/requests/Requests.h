//===- Requests.h - One handler a request -----------------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_H
#define ACTIONDBG_REQUESTS_H

#include "engine/Engine.h"
#include "support/Fields.h"

namespace adbg {

// The wire's codes (docs/protocol.md, Errors).
enum Code : int {
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
};

/// The answer to a request: a result, or what was wrong.
struct Reply {
  llvm::json::Value result = nullptr;
  int code = 0;
  std::string message;

  Reply(llvm::json::Object object) : result(std::move(object)) {}
  Reply(int code, const llvm::Twine &message)
      : code(code), message(message.str()) {}
};

/// Reads its params from `fields`, and is not called to the end when they are
/// wrong: it has to return right after `fields.done()` is false.
using RequestHandler = Reply (*)(Engine &engine, Fields &fields);

Reply wrongParams(const Fields &fields);

// Cursor.cpp
Reply getContext(Engine &engine, Fields &fields);
Reply getCursor(Engine &engine, Fields &fields);
Reply moveCursor(Engine &engine, Fields &fields);
Reply getLinks(Engine &engine, Fields &fields);
llvm::json::Array pathTo(const mlir::IRUnit &unit, mlir::Operation *root);
/// The operation that has nothing around it.
mlir::Operation *rootOf(mlir::Operation *op);

// Search.cpp
Reply findValue(Engine &engine, llvm::StringRef name);
Reply findSymbol(Engine &engine, llvm::StringRef name);
Reply findLocation(Engine &engine, llvm::StringRef path, int64_t line,
                   int64_t column);

// Print.cpp
Reply print(Engine &engine, Fields &fields);

// Past.cpp
Reply getChanges(Engine &engine, Fields &fields);
Reply getStatistics(Engine &engine, Fields &fields);
Reply countOperations(Engine &engine, Fields &fields);
Reply getPipeline(Engine &engine, Fields &fields);
Reply setOptions(Engine &engine, Fields &fields);
Reply getSkips(Engine &engine, Fields &fields);
Reply setSkips(Engine &engine, Fields &fields);
Reply setPlan(Engine &engine, Fields &fields);
Reply openLog(Engine &engine, Fields &fields);
Reply closeLog(Engine &engine, Fields &fields);
// Fork.cpp
Reply settle(Engine &engine, Fields &fields);
/// Returns nothing in the fork: it has no request to answer.
std::optional<Reply> forkTool(Engine &engine, Fields &fields);

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_H
