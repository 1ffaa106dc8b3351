//===- Casting.h - Casts of classes that know their kind --------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace llvm {

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

} // namespace llvm
