//===- JsonRpc.h - The envelope of messages ---------------------*- C++ -*-===//

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

Json resultMessage(Json id, Json result);
Json errorMessage(Json id, const RequestError &error);

} // namespace adbg
