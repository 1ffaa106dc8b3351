//===- STLExtras.h - Callables, algorithms, casts and results ---*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"

namespace llvm {

template <typename Signature> class function_ref;

/// A reference to a callable. Crosses into the tool: a function that takes the
/// address of the callable first, and that address.
template <typename Result, typename... Args>
class function_ref<Result(Args...)> {
  Result (*callback)(intptr_t callable, Args... args) = nullptr;
  intptr_t callable;

  template <typename Callable>
  static Result call(intptr_t callable, Args... args) {
    return (*reinterpret_cast<Callable *>(callable))(
        std::forward<Args>(args)...);
  }

public:
  function_ref() = default;
  function_ref(std::nullptr_t) {}
  template <typename Callable,
            std::enable_if_t<
                !std::is_same_v<std::decay_t<Callable>, function_ref> &&
                std::is_invocable_r_v<Result, Callable &, Args...>> * = nullptr>
  function_ref(Callable &&callable)
      : callback(call<std::remove_reference_t<Callable>>),
        callable(reinterpret_cast<intptr_t>(&callable)) {}

  Result operator()(Args... args) const {
    return callback(callable, std::forward<Args>(args)...);
  }
  explicit operator bool() const { return callback; }
  bool operator==(const function_ref &other) const {
    return callable == other.callable;
  }
};

template <typename Range, typename T>
bool is_contained(Range &&range, const T &value) {
  return std::find(std::begin(range), std::end(range), value) !=
         std::end(range);
}
template <typename T>
bool is_contained(std::initializer_list<T> values, const T &value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}
/// Calls `each` for the elements, and writes a separator between two of them.
template <typename Range, typename Stream, typename Each>
void interleave(Range &&range, Stream &os, Each each, StringRef separator) {
  StringRef before;
  for (auto &&one : range) {
    os << std::exchange(before, separator);
    each(one);
  }
}
template <typename Range, typename Stream, typename Each>
void interleaveComma(Range &&range, Stream &os, Each each) {
  interleave(range, os, each, ", ");
}

/// Whether a value is of a class, as the `classof` of the class finds; whether
/// a union of pointers holds a kind.
template <typename To, typename From> bool isa(const From &from) {
  if constexpr (requires { from.template is<To>(); })
    return from.template is<To>();
  else
    return To::classof(from);
}
template <typename To, typename From> bool isa_and_present(const From &from) {
  return from && isa<To>(from);
}

/// Gives the pointer that a union holds; of a pointer to a base class, a
/// pointer; else a value that is made of a pointer or a handle.
template <typename To, typename From> auto cast(const From &from) {
  if constexpr (requires { from.template is<To>(); }) {
    return from.template get<To>();
  } else if constexpr (std::is_pointer_v<From>) {
    using Pointed = std::remove_pointer_t<From>;
    using Derived = std::conditional_t<std::is_const_v<Pointed>, const To, To>;
    if constexpr (std::is_base_of_v<Pointed, To>)
      return static_cast<Derived *>(from);
    else
      return To(from);
  } else {
    return To(from.getImpl());
  }
}

/// Null if a value is not of the class.
template <typename To, typename From> auto dyn_cast(const From &from) {
  using Result = decltype(cast<To>(from));
  return isa<To>(from) ? cast<To>(from) : Result();
}
template <typename To, typename From>
auto dyn_cast_if_present(const From &from) {
  using Result = decltype(cast<To>(from));
  return from ? dyn_cast<To>(from) : Result();
}

/// Functions of the tool return it, as one bool.
enum class [[nodiscard]] LogicalResult : bool { Failure, Success };

inline LogicalResult success(bool isSuccess = true) {
  return static_cast<LogicalResult>(isSuccess);
}
inline LogicalResult failure() { return LogicalResult::Failure; }
inline bool succeeded(LogicalResult result) {
  return static_cast<bool>(result);
}
inline bool failed(LogicalResult result) { return !succeeded(result); }

} // namespace llvm
