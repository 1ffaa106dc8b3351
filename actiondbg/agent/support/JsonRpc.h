//===- JsonRpc.h - The envelope of messages ---------------------*- C++ -*-===//

#pragma once

#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

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
  llvm::json::Value id = nullptr;
  std::string method;
  llvm::json::Object params;
  /// Set if the line is not a valid request.
  std::optional<RequestError> error;

  static Envelope open(llvm::StringRef line);
  bool isInterrupt() const { return method == "interrupt"; }
};

llvm::json::Value resultMessage(llvm::json::Value id, llvm::json::Value result);
llvm::json::Value errorMessage(llvm::json::Value id, const RequestError &error);

} // namespace adbg
