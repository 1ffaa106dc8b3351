//===- SmallVector.h - Vectors with room inside, and sequences --*- C++ -*-===//

#pragma once

#include "llvm/Support/Compiler.h"

namespace llvm {

/// The part that does not depend on the number of elements inside. Functions of
/// the tool append to it: the address, the size and the capacity, then the
/// elements inside, as aligned as they are. What lies outside comes from
/// malloc, and either side may reallocate it.
template <typename T> class SmallVectorImpl {
  using Size = std::conditional_t<sizeof(T) < 4, uint64_t, uint32_t>;
  struct Header {
    void *first;
    Size size, capacity;
  };
  struct WithElement {
    Header header;
    alignas(T) char element[sizeof(T)];
  };

  void *first;
  Size used = 0, room;

  void *inside() const {
    return const_cast<char *>(reinterpret_cast<const char *>(this)) +
           offsetof(WithElement, element);
  }
  void releaseRoom() {
    if (first != inside())
      std::free(first);
  }
  void grow(size_t least) {
    size_t larger = std::max(size_t(room) * 2 + 1, least);
    // Never the address of the elements inside, which marks them as such.
    void *fresh = std::malloc(std::max<size_t>(larger * sizeof(T), 1));
    if (!fresh)
      std::abort();
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (used)
        std::memcpy(fresh, first, used * sizeof(T));
    } else {
      std::uninitialized_move(begin(), end(), static_cast<T *>(fresh));
      std::destroy(begin(), end());
    }
    releaseRoom();
    first = fresh;
    room = larger;
  }

protected:
  explicit SmallVectorImpl(size_t inner) : first(inside()), room(inner) {}

public:
  using value_type = T;
  using size_type = size_t;
  using iterator = T *;
  using const_iterator = const T *;
  using reference = T &;

  SmallVectorImpl(const SmallVectorImpl &) = delete;
  ~SmallVectorImpl() {
    std::destroy(begin(), end());
    releaseRoom();
  }

  T *data() { return static_cast<T *>(first); }
  const T *data() const { return static_cast<const T *>(first); }
  size_t size() const { return used; }
  size_t capacity() const { return room; }
  bool empty() const { return !used; }
  iterator begin() { return data(); }
  const_iterator begin() const { return data(); }
  iterator end() { return data() + used; }
  const_iterator end() const { return data() + used; }
  T &front() { return data()[0]; }
  T &operator[](size_t index) { return data()[index]; }
  const T &operator[](size_t index) const { return data()[index]; }

  void reserve(size_t size) {
    if (size > room)
      grow(size);
  }
  void set_size(size_t size) { used = size; }
  template <typename... Args> T &emplace_back(Args &&...args) {
    if (LLVM_LIKELY(used < room))
      return *new (data() + used++) T(std::forward<Args>(args)...);
    // The arguments may refer to an element.
    T made(std::forward<Args>(args)...);
    grow(used + 1);
    return *new (data() + used++) T(std::move(made));
  }
  void push_back(const T &value) { emplace_back(value); }
  void push_back(T &&value) { emplace_back(std::move(value)); }
  void truncate(size_t size) {
    std::destroy(begin() + size, end());
    used = size;
  }
  void clear() { truncate(0); }
  void resize(size_t size) {
    if (size <= used)
      return truncate(size);
    reserve(size);
    for (; used < size; ++used)
      new (data() + used) T();
  }
  template <typename Iterator, typename = typename std::iterator_traits<
                                   Iterator>::iterator_category>
  void append(Iterator from, Iterator to) {
    if constexpr (std::is_base_of_v<std::forward_iterator_tag,
                                    typename std::iterator_traits<
                                        Iterator>::iterator_category>)
      reserve(used + std::distance(from, to));
    for (; from != to; ++from)
      emplace_back(*from);
  }
};

template <typename T, unsigned inner> struct SmallVectorStorage {
  alignas(T) char elements[inner * sizeof(T)];
};
template <typename T> struct alignas(T) SmallVectorStorage<T, 0> {};

/// As many elements as fit in 64 bytes, at least one.
template <typename T>
constexpr unsigned defaultInnerElements =
    std::max<size_t>((64 - sizeof(SmallVectorImpl<T>)) / sizeof(T), 1);

template <typename T, unsigned inner = defaultInnerElements<T>>
class SmallVector : public SmallVectorImpl<T>, SmallVectorStorage<T, inner> {
public:
  SmallVector() : SmallVectorImpl<T>(inner) {}
};

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

template <typename T> bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}

} // namespace llvm

template <typename T>
inline constexpr bool std::ranges::enable_view<llvm::ArrayRef<T>> = true;
template <typename T>
inline constexpr bool std::ranges::enable_borrowed_range<llvm::ArrayRef<T>> =
    true;
