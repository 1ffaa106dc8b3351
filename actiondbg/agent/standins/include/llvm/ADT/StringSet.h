//===- StringSet.h - Hash tables of text ------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/StringMap.h"

namespace llvm {

template <typename Unused = void>
class StringSet : public StringMap<std::nullopt_t> {
  using Base = StringMap<std::nullopt_t>;

public:
  StringSet() = default;
  StringSet(std::initializer_list<StringRef> keys) {
    for (StringRef key : keys)
      insert(key);
  }
  std::pair<Base::iterator, bool> insert(StringRef key) {
    return Base::try_emplace(key, std::nullopt);
  }
  template <typename Iterator> void insert(Iterator from, Iterator to) {
    for (; from != to; ++from)
      insert(*from);
  }
};

} // namespace llvm
