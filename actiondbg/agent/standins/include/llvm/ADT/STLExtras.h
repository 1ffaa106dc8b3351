//===- STLExtras.h - Algorithms over ranges ---------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/iterator_range.h"
#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace llvm {

template <typename Range, typename Test> bool all_of(Range &&range, Test test) {
  return std::all_of(std::begin(range), std::end(range), test);
}
template <typename Range, typename Test> bool any_of(Range &&range, Test test) {
  return std::any_of(std::begin(range), std::end(range), test);
}
template <typename Range, typename T> auto find(Range &&range, const T &value) {
  return std::find(std::begin(range), std::end(range), value);
}
template <typename Range, typename T>
bool is_contained(Range &&range, const T &value) {
  return std::find(std::begin(range), std::end(range), value) !=
         std::end(range);
}
template <typename T>
bool is_contained(std::initializer_list<T> values, const T &value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}
template <typename Range, typename T>
bool binary_search(Range &&range, const T &value) {
  return std::binary_search(std::begin(range), std::end(range), value);
}
template <typename Range> void sort(Range &&range) {
  std::sort(std::begin(range), std::end(range));
}
template <typename Range, typename Less> void sort(Range &&range, Less less) {
  std::sort(std::begin(range), std::end(range), less);
}
template <typename Iterator> void sort(Iterator from, Iterator to) {
  std::sort(from, to);
}
template <typename Range> void stable_sort(Range &&range) {
  std::stable_sort(std::begin(range), std::end(range));
}
template <typename Range, typename Less>
void stable_sort(Range &&range, Less less) {
  std::stable_sort(std::begin(range), std::end(range), less);
}
template <typename Container, typename Test>
void erase_if(Container &container, Test test) {
  container.erase(std::remove_if(container.begin(), container.end(), test),
                  container.end());
}
template <typename Container, typename T>
void erase(Container &container, T value) {
  container.erase(std::remove(container.begin(), container.end(), value),
                  container.end());
}

/// A range from its last element to its first.
template <typename Range> auto reverse(Range &&range) {
  if constexpr (std::is_array_v<std::remove_reference_t<Range>>)
    return make_range(std::rbegin(range), std::rend(range));
  else
    return make_range(std::make_reverse_iterator(range.end()),
                      std::make_reverse_iterator(range.begin()));
}
template <typename Range> size_t range_size(Range &&range) {
  return std::distance(std::begin(range), std::end(range));
}

template <typename Range> bool hasSingleElement(Range &&range) {
  return range_size(range) == 1;
}

/// Pairs of elements of two ranges, as many as the shorter one has.
template <typename First, typename Second>
auto zip(First &&first, Second &&second) {
  std::vector<std::pair<decltype(*first.begin()), decltype(*second.begin())>>
      pairs;
  auto other = second.begin();
  for (auto it = first.begin(); it != first.end() && other != second.end();
       ++it, ++other)
    pairs.emplace_back(*it, *other);
  return pairs;
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
