//===- LogicalResult.h - Success or failure ---------------------*- C++ -*-===//

#pragma once

namespace llvm {

/// Functions of the tool return it, as one bool.
struct [[nodiscard]] LogicalResult {
  static LogicalResult success(bool isSuccess = true) {
    return LogicalResult(isSuccess);
  }
  static LogicalResult failure(bool isFailure = true) {
    return LogicalResult(!isFailure);
  }
  constexpr bool succeeded() const { return isSuccess; }
  constexpr bool failed() const { return !isSuccess; }

private:
  explicit LogicalResult(bool isSuccess) : isSuccess(isSuccess) {}

  bool isSuccess;
};

inline LogicalResult success(bool isSuccess = true) {
  return LogicalResult::success(isSuccess);
}
inline LogicalResult failure(bool isFailure = true) {
  return LogicalResult::failure(isFailure);
}
inline bool succeeded(LogicalResult result) { return result.succeeded(); }
inline bool failed(LogicalResult result) { return result.failed(); }

} // namespace llvm
