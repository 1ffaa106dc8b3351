//===- StringMap.h - Hash tables keyed by text ------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"
#include <initializer_list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace llvm {

/// An entry of a map; stays where it is as long as it is in the map.
template <typename Value> class StringMapEntry {
  std::string key;

public:
  Value second;

  template <typename... Args>
  explicit StringMapEntry(StringRef key, Args &&...args)
      : key(key.str()), second(std::forward<Args>(args)...) {}

  StringRef getKey() const { return key; }
  StringRef first() const { return key; }
  Value &getValue() { return second; }
  const Value &getValue() const { return second; }
};

template <typename Value> class StringMap {
  using Entry = StringMapEntry<Value>;
  struct Hash {
    size_t operator()(StringRef text) const { return xxh3_64bits(text); }
  };
  // Each key refers to the text in its entry.
  using Table = std::unordered_map<StringRef, std::unique_ptr<Entry>, Hash>;
  Table table;

  template <typename Of, typename Inner> class Iterator {
    Inner at;
    friend class StringMap;
    template <typename, typename> friend class Iterator;
    Iterator(Inner at) : at(at) {}

  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = ptrdiff_t;
    using pointer = Of *;
    using reference = Of &;

    template <
        typename OtherOf, typename OtherInner,
        typename = std::enable_if_t<std::is_convertible_v<OtherInner, Inner>>>
    Iterator(const Iterator<OtherOf, OtherInner> &other) : at(other.at) {}
    Of &operator*() const { return *at->second; }
    Of *operator->() const { return at->second.get(); }
    Iterator &operator++() {
      ++at;
      return *this;
    }
    bool operator==(const Iterator &other) const { return at == other.at; }
    bool operator!=(const Iterator &other) const { return at != other.at; }
  };

public:
  using value_type = Entry;
  using iterator = Iterator<Entry, typename Table::iterator>;
  using const_iterator = Iterator<const Entry, typename Table::const_iterator>;

  StringMap() = default;
  StringMap(std::initializer_list<std::pair<StringRef, Value>> values) {
    for (const auto &[key, value] : values)
      try_emplace(key, value);
  }
  StringMap(const StringMap &other) {
    for (const Entry &entry : other)
      try_emplace(entry.getKey(), entry.second);
  }
  StringMap(StringMap &&) = default;
  StringMap &operator=(StringMap other) {
    table.swap(other.table);
    return *this;
  }

  iterator begin() { return table.begin(); }
  iterator end() { return table.end(); }
  const_iterator begin() const { return table.begin(); }
  const_iterator end() const { return table.end(); }
  bool empty() const { return table.empty(); }
  size_t size() const { return table.size(); }
  void clear() { table.clear(); }
  iterator find(StringRef key) { return table.find(key); }
  const_iterator find(StringRef key) const { return table.find(key); }
  bool contains(StringRef key) const { return table.count(key); }
  size_t count(StringRef key) const { return table.count(key); }
  Value lookup(StringRef key) const {
    auto found = table.find(key);
    return found == table.end() ? Value() : found->second->second;
  }
  template <typename... Args>
  std::pair<iterator, bool> try_emplace(StringRef key, Args &&...args) {
    if (auto found = table.find(key); found != table.end())
      return {found, false};
    auto entry = std::make_unique<Entry>(key, std::forward<Args>(args)...);
    StringRef own = entry->getKey();
    return {table.emplace(own, std::move(entry)).first, true};
  }
  std::pair<iterator, bool> insert(std::pair<StringRef, Value> entry) {
    return try_emplace(entry.first, std::move(entry.second));
  }
  Value &operator[](StringRef key) { return try_emplace(key).first->second; }
  bool erase(StringRef key) {
    auto found = table.find(key);
    if (found == table.end())
      return false;
    erase(iterator(found));
    return true;
  }
  void erase(iterator at) {
    // The key must outlive its removal.
    std::unique_ptr<Entry> entry = std::move(at.at->second);
    table.erase(at.at);
  }
  /// The keys, in the order of iteration.
  std::vector<StringRef> keys() const {
    std::vector<StringRef> all;
    for (const Entry &entry : *this)
      all.push_back(entry.getKey());
    return all;
  }
};

} // namespace llvm
