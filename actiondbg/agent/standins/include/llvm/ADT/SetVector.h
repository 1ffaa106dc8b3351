//===- SetVector.h - Sets in the order of insertion -------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"

namespace llvm {

template <typename T> class SetVector {
  DenseSet<T> known;
  SmallVector<T, 0> order;

public:
  using value_type = T;
  using const_iterator = const T *;
  using iterator = const_iterator;

  SetVector() = default;
  template <typename Iterator> SetVector(Iterator from, Iterator to) {
    insert(from, to);
  }

  const_iterator begin() const { return order.begin(); }
  const_iterator end() const { return order.end(); }
  bool empty() const { return order.empty(); }
  size_t size() const { return order.size(); }
  const T &front() const { return order.front(); }
  const T &back() const { return order.back(); }
  const T &operator[](size_t index) const { return order[index]; }
  bool contains(const T &value) const { return known.contains(value); }
  size_t count(const T &value) const { return contains(value); }
  bool insert(const T &value) {
    bool isNew = known.insert(value).second;
    if (isNew)
      order.push_back(value);
    return isNew;
  }
  template <typename Iterator> void insert(Iterator from, Iterator to) {
    for (; from != to; ++from)
      insert(*from);
  }
  bool remove(const T &value) {
    if (!known.erase(value))
      return false;
    order.erase(std::find(order.begin(), order.end(), value));
    return true;
  }
  T pop_back_val() {
    known.erase(back());
    return order.pop_back_val();
  }
  void clear() {
    known.clear();
    order.clear();
  }
};

} // namespace llvm
