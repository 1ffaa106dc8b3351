//===- ArrayRef.h - References to sequences ---------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {

/// Crosses into the tool: an address and a length.
template <typename T> class ArrayRef {
  const T *start = nullptr;
  size_t length = 0;

public:
  using value_type = T;
  using iterator = const T *;
  using const_iterator = const T *;
  using size_type = size_t;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T &one) : start(&one), length(1) {}
  constexpr ArrayRef(const T *data, size_t size) : start(data), length(size) {}
  constexpr ArrayRef(const T *from, const T *to)
      : start(from), length(to - from) {}
  ArrayRef(const SmallVectorImpl<T> &values)
      : start(values.data()), length(values.size()) {}
  template <typename Allocator>
  ArrayRef(const std::vector<T, Allocator> &values)
      : start(values.data()), length(values.size()) {}
  template <size_t size>
  constexpr ArrayRef(const std::array<T, size> &values)
      : start(values.data()), length(size) {}
  template <size_t size>
  constexpr ArrayRef(const T (&values)[size]) : start(values), length(size) {}
#pragma GCC diagnostic push
#if !defined(__clang__)
// The values live to the end of the full expression, as the arguments of a call
// do.
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(std::initializer_list<T> values)
      : start(values.begin()), length(values.size()) {}
#pragma GCC diagnostic pop
  /// An array of pointers to what is not const, as one of const.
  template <typename U, typename = std::enable_if_t<
                            !std::is_same_v<U, T> &&
                            std::is_convertible_v<U *const *, T const *>>>
  ArrayRef(ArrayRef<U *> values)
      : start(values.data()), length(values.size()) {}

  constexpr const T *data() const { return start; }
  constexpr size_t size() const { return length; }
  constexpr bool empty() const { return !length; }
  constexpr iterator begin() const { return start; }
  constexpr iterator end() const { return start + length; }
  const T &front() const { return start[0]; }
  const T &operator[](size_t index) const { return start[index]; }
  ArrayRef slice(size_t from, size_t size) const {
    return {start + from, size};
  }
  ArrayRef drop_front(size_t size = 1) const {
    return {start + size, length - size};
  }
  ArrayRef drop_back(size_t size = 1) const { return {start, length - size}; }
  ArrayRef take_front(size_t size = 1) const {
    return size >= length ? *this : drop_back(length - size);
  }
  bool equals(ArrayRef other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
};

template <typename T> class MutableArrayRef : public ArrayRef<T> {
public:
  using iterator = T *;

  constexpr MutableArrayRef() = default;
  MutableArrayRef(T *data, size_t size) : ArrayRef<T>(data, size) {}

  T *data() const { return const_cast<T *>(ArrayRef<T>::data()); }
  iterator begin() const { return data(); }
  iterator end() const { return data() + this->size(); }
  T &operator[](size_t index) const { return data()[index]; }
};

template <typename T> bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}

} // namespace llvm

template <typename T>
inline constexpr bool std::ranges::enable_view<llvm::ArrayRef<T>> = true;
template <typename T>
inline constexpr bool std::ranges::enable_borrowed_range<llvm::ArrayRef<T>> =
    true;
