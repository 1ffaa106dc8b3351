//===- Casting.h - Casts of classes that know their kind --------*- C++ -*-===//

#pragma once

#include <optional>
#include <type_traits>
#include <utility>

namespace llvm {

/// Whether a value can be cast to `To`, and how. For a pointer it gives a
/// pointer, for a value a value; specialisations change that, as for an
/// operation that is wrapped.
template <typename To, typename From, typename Enable = void> struct CastInfo;

template <typename To, typename From> struct CastInfo<To, From *> {
  using Result = std::conditional_t<std::is_const_v<From>, const To, To> *;
  static bool isPossible(From *from) {
    if constexpr (std::is_base_of_v<To, From>)
      return true;
    else
      return To::classof(from);
  }
  static Result doCast(From *from) { return static_cast<Result>(from); }
  static Result castFailed() { return nullptr; }
};

/// Classes that wrap a pointer.
template <typename To, typename From> struct WrappingCast {
  static bool isPossible(From *from) { return To::classof(from); }
  static To doCast(From *from) { return To(from); }
  static To castFailed() { return To(); }
};

/// Values: a handle with `getImpl()`.
template <typename To, typename From>
struct CastInfo<
    To, From,
    std::enable_if_t<std::is_class_v<From> && !std::is_polymorphic_v<From>>> {
  static bool isPossible(From from) {
    if constexpr (std::is_base_of_v<To, From>)
      return true;
    else
      return To::classof(from);
  }
  static To doCast(From from) {
    if constexpr (std::is_base_of_v<To, From>)
      return from;
    else
      return To(from.getImpl());
  }
  static To castFailed() { return To(nullptr); }
};

/// Objects, by reference.
template <typename To, typename From>
struct CastInfo<To, From, std::enable_if_t<std::is_polymorphic_v<From>>> {
  using OfPointer = CastInfo<To, const From *>;
  static bool isPossible(const From &from) {
    return OfPointer::isPossible(&from);
  }
  static const To &doCast(const From &from) {
    return *OfPointer::doCast(&from);
  }
};

template <typename To, typename From>
using CastOf = CastInfo<To, std::remove_const_t<From>>;

/// Whether a value refers to anything.
template <typename T> bool isPresent(const T &value) {
  if constexpr (std::is_constructible_v<bool, const T &>)
    return static_cast<bool>(value);
  else
    return !value.isNull();
}

template <typename To, typename... More, typename From>
[[nodiscard]] bool isa(const From &from) {
  if (CastOf<To, From>::isPossible(from))
    return true;
  if constexpr (sizeof...(More) != 0)
    return isa<More...>(from);
  else
    return false;
}
template <typename... To, typename From>
[[nodiscard]] bool isa_and_present(const From &from) {
  return isPresent(from) && isa<To...>(from);
}

template <typename To, typename From> decltype(auto) cast(const From &from) {
  return CastOf<To, From>::doCast(from);
}
/// The cast of an object itself, for classes that are referred to.
template <typename To, typename From>
std::enable_if_t<std::is_polymorphic_v<From>, To &> cast(From &from) {
  return static_cast<To &>(from);
}
template <typename To, typename From> auto dyn_cast(const From &from) {
  return isa<To>(from) ? CastOf<To, From>::doCast(from)
                       : CastOf<To, From>::castFailed();
}
template <typename To, typename From>
auto dyn_cast_if_present(const From &from) {
  return isPresent(from) ? dyn_cast<To>(from) : CastOf<To, From>::castFailed();
}
template <typename To, typename From> auto cast_if_present(const From &from) {
  return isPresent(from) ? CastOf<To, From>::doCast(from)
                         : CastOf<To, From>::castFailed();
}

} // namespace llvm
