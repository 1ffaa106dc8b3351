//===- STLExtras.h - Algorithms over ranges ---------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <iterator>

namespace llvm {

template <typename Range, typename T>
bool is_contained(Range &&range, const T &value) {
  return std::find(std::begin(range), std::end(range), value) !=
         std::end(range);
}
template <typename T>
bool is_contained(std::initializer_list<T> values, const T &value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}
/// Calls `each` for the elements and `between` between two of them.
template <typename Range, typename Each, typename Between>
std::enable_if_t<std::is_invocable_v<Between>>
interleave(const Range &range, Each each, Between between) {
  bool isFirst = true;
  for (auto &&one : range) {
    if (!isFirst)
      between();
    isFirst = false;
    each(one);
  }
}
template <typename Range, typename Stream, typename Each, typename Text>
std::enable_if_t<!std::is_invocable_v<Text>>
interleave(const Range &range, Stream &os, Each each, const Text &separator) {
  interleave(range, each, [&] { os << separator; });
}
template <typename Range, typename Stream, typename Text>
std::enable_if_t<!std::is_invocable_v<Text>>
interleave(const Range &range, Stream &os, const Text &separator) {
  interleave(
      range, [&](const auto &one) { os << one; }, [&] { os << separator; });
}
template <typename Range, typename Stream, typename Each>
void interleaveComma(const Range &range, Stream &os, Each each) {
  interleave(range, each, [&] { os << ", "; });
}
template <typename Range, typename Stream>
void interleaveComma(const Range &range, Stream &os) {
  interleaveComma(range, os, [&](const auto &one) { os << one; });
}

} // namespace llvm
