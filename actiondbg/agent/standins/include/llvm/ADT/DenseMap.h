//===- DenseMap.h - Hash tables in one array --------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <new>

namespace llvm {

/// An entry of a map: its key outlives its value.
template <typename Key, typename Value>
struct DenseMapPair : std::pair<Key, Value> {
  using std::pair<Key, Value>::pair;
};

/// Laid out as the maps of the tool are, so that these can be iterated over.
/// Looking something up in them needs the tool's own hash of the key.
template <typename Key, typename Value, typename Info = DenseMapInfo<Key>>
class DenseMap {
public:
  using value_type = DenseMapPair<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using size_type = unsigned;

private:
  value_type *buckets = nullptr;
  unsigned entries = 0, tombstones = 0, bucketCount = 0;

  static bool isLive(const Key &key) {
    return !Info::isEqual(key, Info::getEmptyKey()) &&
           !Info::isEqual(key, Info::getTombstoneKey());
  }

  template <typename Entry> class Iterator {
    Entry *at, *last;
    friend class DenseMap;
    template <typename> friend class Iterator;
    Iterator(Entry *at, Entry *last) : at(at), last(last) { skip(); }
    void skip() {
      while (at != last && !isLive(at->first))
        ++at;
    }

  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = ptrdiff_t;
    using pointer = Entry *;
    using reference = Entry &;

    Iterator() : at(nullptr), last(nullptr) {}
    template <typename Other, typename = std::enable_if_t<
                                  std::is_convertible_v<Other *, Entry *>>>
    Iterator(const Iterator<Other> &other) : at(other.at), last(other.last) {}
    Entry &operator*() const { return *at; }
    Entry *operator->() const { return at; }
    Iterator &operator++() {
      ++at;
      skip();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator &other) const { return at == other.at; }
    bool operator!=(const Iterator &other) const { return at != other.at; }
  };

public:
  using iterator = Iterator<value_type>;
  using const_iterator = Iterator<const value_type>;

  DenseMap() = default;
  explicit DenseMap(unsigned size) { reserve(size); }
  DenseMap(std::initializer_list<std::pair<Key, Value>> values) {
    for (const auto &[key, value] : values)
      try_emplace(key, value);
  }
  DenseMap(const DenseMap &other) {
    reserve(other.size());
    for (const auto &[key, value] : other)
      try_emplace(key, value);
  }
  DenseMap(DenseMap &&other) { swap(other); }
  DenseMap &operator=(DenseMap other) {
    swap(other);
    return *this;
  }
  ~DenseMap() { release(); }

  void swap(DenseMap &other) {
    std::swap(buckets, other.buckets);
    std::swap(entries, other.entries);
    std::swap(tombstones, other.tombstones);
    std::swap(bucketCount, other.bucketCount);
  }

  iterator begin() {
    return entries ? iterator(buckets, buckets + bucketCount) : end();
  }
  iterator end() { return {buckets + bucketCount, buckets + bucketCount}; }
  const_iterator begin() const {
    return entries ? const_iterator(buckets, buckets + bucketCount) : end();
  }
  const_iterator end() const {
    return {buckets + bucketCount, buckets + bucketCount};
  }
  bool empty() const { return !entries; }
  unsigned size() const { return entries; }
  void reserve(size_t size) {
    unsigned least = roomFor(size);
    if (size && least > bucketCount)
      rehash(least);
  }
  void clear() {
    if (!entries && !tombstones)
      return;
    // A map that was large once does not stay so.
    if (bucketCount > 64 && size_t(entries) * 4 < bucketCount) {
      DenseMap empty;
      swap(empty);
      return;
    }
    for (unsigned i = 0; i < bucketCount; ++i) {
      if (isLive(buckets[i].first))
        buckets[i].second.~Value();
      buckets[i].first = Info::getEmptyKey();
    }
    entries = tombstones = 0;
  }

  iterator find(const Key &key) { return iteratorAt(entryOf(key)); }
  const_iterator find(const Key &key) const {
    return const_cast<DenseMap *>(this)->find(key);
  }
  bool contains(const Key &key) const { return entryOf(key); }
  unsigned count(const Key &key) const { return contains(key); }
  Value lookup(const Key &key) const {
    const value_type *entry = entryOf(key);
    return entry ? entry->second : Value();
  }
  const Value &at(const Key &key) const { return entryOf(key)->second; }

  template <typename... Args>
  std::pair<iterator, bool> try_emplace(const Key &key, Args &&...args) {
    value_type *free = nullptr;
    if (value_type *entry = probe(key, free))
      return {iteratorAt(entry), false};
    // At most three quarters in use, and an eighth never used since the last
    // rehash: else a search for what is not there takes long.
    if ((size_t(entries) + 1) * 4 >= size_t(bucketCount) * 3) {
      rehash(std::max(bucketCount * 2, 64u));
      probe(key, free);
    } else if (bucketCount - (entries + 1 + tombstones) <= bucketCount / 8) {
      rehash(bucketCount);
      probe(key, free);
    }
    if (!Info::isEqual(free->first, Info::getEmptyKey()))
      --tombstones;
    free->first = key;
    new (&free->second) Value(std::forward<Args>(args)...);
    ++entries;
    return {iteratorAt(free), true};
  }
  std::pair<iterator, bool> insert(const std::pair<Key, Value> &entry) {
    return try_emplace(entry.first, entry.second);
  }
  std::pair<iterator, bool> insert(std::pair<Key, Value> &&entry) {
    return try_emplace(entry.first, std::move(entry.second));
  }
  Value &operator[](const Key &key) { return try_emplace(key).first->second; }
  bool erase(const Key &key) {
    value_type *entry = entryOf(key);
    if (entry)
      remove(entry);
    return entry;
  }
  void erase(iterator at) { remove(at.at); }

private:
  static unsigned roomFor(size_t size) {
    return std::max<uint64_t>(NextPowerOf2(size * 4 / 3 + 1), 64);
  }
  iterator iteratorAt(value_type *entry) {
    return entry ? iterator(entry, buckets + bucketCount) : end();
  }
  value_type *entryOf(const Key &key) const {
    value_type *free = nullptr;
    return entries ? probe(key, free) : nullptr;
  }
  /// Returns the entry, or sets the bucket for a new one.
  value_type *probe(const Key &key, value_type *&free) const {
    if (!bucketCount)
      return nullptr;
    free = nullptr;
    unsigned mask = bucketCount - 1;
    unsigned index = Info::getHashValue(key) & mask;
    for (unsigned step = 1;; index = (index + step++) & mask) {
      value_type *bucket = buckets + index;
      if (LLVM_LIKELY(Info::isEqual(bucket->first, key)))
        return bucket;
      if (LLVM_LIKELY(Info::isEqual(bucket->first, Info::getEmptyKey()))) {
        free = free ? free : bucket;
        return nullptr;
      }
      if (!free && Info::isEqual(bucket->first, Info::getTombstoneKey()))
        free = bucket;
    }
  }
  void remove(value_type *entry) {
    entry->second.~Value();
    entry->first = Info::getTombstoneKey();
    --entries;
    ++tombstones;
  }
  void rehash(unsigned count) {
    value_type *old = buckets;
    unsigned oldCount = bucketCount;
    buckets =
        static_cast<value_type *>(::operator new(count * sizeof(value_type)));
    bucketCount = count;
    entries = tombstones = 0;
    for (unsigned i = 0; i < count; ++i)
      new (&buckets[i].first) Key(Info::getEmptyKey());
    for (unsigned i = 0; i < oldCount; ++i) {
      if (isLive(old[i].first)) {
        value_type *free = nullptr;
        probe(old[i].first, free);
        free->first = std::move(old[i].first);
        new (&free->second) Value(std::move(old[i].second));
        ++entries;
        old[i].second.~Value();
      }
      old[i].first.~Key();
    }
    ::operator delete(old);
  }
  void release() {
    for (unsigned i = 0; i < bucketCount; ++i) {
      if (isLive(buckets[i].first))
        buckets[i].second.~Value();
      buckets[i].first.~Key();
    }
    ::operator delete(buckets);
  }
};

} // namespace llvm
