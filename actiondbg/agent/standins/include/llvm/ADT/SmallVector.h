//===- SmallVector.h - Vectors with room inside -----------------*- C++ -*-===//

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

} // namespace llvm
