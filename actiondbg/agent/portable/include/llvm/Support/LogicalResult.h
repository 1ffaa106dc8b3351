//===- LogicalResult.h - Success or failure ---------------------*- C++ -*-===//

#ifndef ACTIONDBG_LLVM_LOGICALRESULT_H
#define ACTIONDBG_LLVM_LOGICALRESULT_H

#include <optional>
#include <utility>

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

template <typename T> class [[nodiscard]] FailureOr : public std::optional<T> {
public:
  FailureOr() = default;
  FailureOr(LogicalResult) {}
  FailureOr(T &&value) : std::optional<T>(std::move(value)) {}
  FailureOr(const T &value) : std::optional<T>(value) {}

  operator LogicalResult() const { return success(this->has_value()); }

private:
  using std::optional<T>::operator bool;
  using std::optional<T>::has_value;
};

template <typename T> bool succeeded(const FailureOr<T> &result) {
  return succeeded(static_cast<LogicalResult>(result));
}
template <typename T> bool failed(const FailureOr<T> &result) {
  return failed(static_cast<LogicalResult>(result));
}

/// True for a failure, so that parsers chain by `||`.
class [[nodiscard]] ParseResult : public LogicalResult {
public:
  ParseResult(LogicalResult result = success()) : LogicalResult(result) {}

  explicit operator bool() const { return failed(); }
};

} // namespace llvm

#endif // ACTIONDBG_LLVM_LOGICALRESULT_H
