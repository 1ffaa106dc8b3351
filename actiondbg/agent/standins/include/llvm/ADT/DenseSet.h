//===- DenseSet.h - Hash tables of keys -------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/DenseMap.h"

namespace llvm {

struct DenseSetNothing {};
/// An entry of a set: a key alone.
template <typename Key> struct DenseMapPair<Key, DenseSetNothing> {
  Key first;
  [[no_unique_address]] DenseSetNothing second;
};

template <typename Key, typename Info = DenseMapInfo<Key>> class DenseSet {
  using Map = DenseMap<Key, DenseSetNothing, Info>;
  Map map;

public:
  class const_iterator {
    typename Map::const_iterator at;
    friend class DenseSet;

  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Key;
    using difference_type = ptrdiff_t;
    using pointer = const Key *;
    using reference = const Key &;

    const_iterator(typename Map::const_iterator at) : at(at) {}
    const Key &operator*() const { return at->first; }
    const Key *operator->() const { return &at->first; }
    const_iterator &operator++() {
      ++at;
      return *this;
    }
    bool operator==(const const_iterator &other) const {
      return at == other.at;
    }
    bool operator!=(const const_iterator &other) const {
      return at != other.at;
    }
  };
  using iterator = const_iterator;
  using value_type = Key;
  using key_type = Key;

  DenseSet() = default;
  DenseSet(std::initializer_list<Key> keys) {
    insert(keys.begin(), keys.end());
  }
  template <typename Iterator> DenseSet(Iterator from, Iterator to) {
    insert(from, to);
  }

  const_iterator begin() const { return map.begin(); }
  const_iterator end() const { return map.end(); }
  bool empty() const { return map.empty(); }
  size_t size() const { return map.size(); }
  void reserve(size_t size) { map.reserve(size); }
  void clear() { map.clear(); }
  void swap(DenseSet &other) { map.swap(other.map); }
  const_iterator find(const Key &key) const { return map.find(key); }
  bool contains(const Key &key) const { return map.contains(key); }
  size_t count(const Key &key) const { return contains(key); }
  std::pair<const_iterator, bool> insert(const Key &key) {
    auto [entry, isNew] = map.try_emplace(key);
    return {const_iterator(entry), isNew};
  }
  template <typename Iterator> void insert(Iterator from, Iterator to) {
    for (; from != to; ++from)
      insert(*from);
  }
  bool erase(const Key &key) { return map.erase(key); }
};

} // namespace llvm
