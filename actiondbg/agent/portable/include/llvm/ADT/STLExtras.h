//===- STLExtras.h - Algorithms over ranges ---------------------*- C++ -*-===//

#ifndef ACTIONDBG_LLVM_STLEXTRAS_H
#define ACTIONDBG_LLVM_STLEXTRAS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/iterator_range.h"
#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>

namespace llvm {

template <typename Range, typename Test> bool all_of(Range &&range, Test test) {
  return std::all_of(std::begin(range), std::end(range), test);
}
template <typename Range, typename Test> bool any_of(Range &&range, Test test) {
  return std::any_of(std::begin(range), std::end(range), test);
}
template <typename Range, typename Test>
bool none_of(Range &&range, Test test) {
  return std::none_of(std::begin(range), std::end(range), test);
}
template <typename Range, typename T> auto find(Range &&range, const T &value) {
  return std::find(std::begin(range), std::end(range), value);
}
template <typename Range, typename Test>
auto find_if(Range &&range, Test test) {
  return std::find_if(std::begin(range), std::end(range), test);
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
auto count(Range &&range, const T &value) {
  return std::count(std::begin(range), std::end(range), value);
}
template <typename Range, typename Test>
auto count_if(Range &&range, Test test) {
  return std::count_if(std::begin(range), std::end(range), test);
}
template <typename Range, typename Do> void for_each(Range &&range, Do act) {
  std::for_each(std::begin(range), std::end(range), act);
}
template <typename Range, typename T>
bool binary_search(Range &&range, const T &value) {
  return std::binary_search(std::begin(range), std::end(range), value);
}
template <typename Range, typename T>
auto lower_bound(Range &&range, const T &value) {
  return std::lower_bound(std::begin(range), std::end(range), value);
}
template <typename Range, typename T, typename Less>
auto lower_bound(Range &&range, const T &value, Less less) {
  return std::lower_bound(std::begin(range), std::end(range), value, less);
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
template <typename Container, typename Range>
void append_range(Container &container, Range &&range) {
  container.insert(container.end(), std::begin(range), std::end(range));
}

/// A range from its last element to its first.
template <typename Range> auto reverse(Range &&range) {
  if constexpr (std::is_array_v<std::remove_reference_t<Range>>)
    return make_range(std::rbegin(range), std::rend(range));
  else
    return make_range(std::make_reverse_iterator(range.end()),
                      std::make_reverse_iterator(range.begin()));
}
template <typename Range> auto drop_begin(Range &&range, size_t count = 1) {
  return make_range(std::next(std::begin(range), count), std::end(range));
}
template <typename Range> auto drop_end(Range &&range, size_t count = 1) {
  return make_range(std::begin(range), std::prev(std::end(range), count));
}
template <typename Range> size_t range_size(Range &&range) {
  return std::distance(std::begin(range), std::end(range));
}
template <typename Range> bool hasSingleElement(Range &&range) {
  auto first = std::begin(range), last = std::end(range);
  return first != last && std::next(first) == last;
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

/// Ranges side by side, up to the end of the shortest.
template <typename... Iterators> class ZipIterator {
  std::tuple<Iterators...> all;

public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = std::tuple<decltype(*std::declval<Iterators &>())...>;
  using difference_type = ptrdiff_t;
  using pointer = const value_type *;
  using reference = value_type;

  explicit ZipIterator(Iterators... all) : all(all...) {}
  value_type operator*() const {
    return std::apply(
        [](auto &...one) {
          return value_type(
              *const_cast<std::remove_const_t<
                  std::remove_reference_t<decltype(one)>> &>(one)...);
        },
        all);
  }
  ZipIterator &operator++() {
    std::apply([](auto &...one) { (++one, ...); }, all);
    return *this;
  }
  bool operator==(const ZipIterator &other) const {
    return isAnyEqual(other, std::index_sequence_for<Iterators...>());
  }
  bool operator!=(const ZipIterator &other) const { return !(*this == other); }

private:
  template <size_t... index>
  bool isAnyEqual(const ZipIterator &other,
                  std::index_sequence<index...>) const {
    return (... || (std::get<index>(all) == std::get<index>(other.all)));
  }
};
/// Holds ranges that are temporary, and refers to the others.
template <typename... Ranges> class Zipped {
  std::tuple<Ranges...> ranges;

public:
  explicit Zipped(Ranges &&...ranges)
      : ranges(std::forward<Ranges>(ranges)...) {}
  auto begin() {
    return std::apply(
        [](auto &...one) { return ZipIterator(std::begin(one)...); }, ranges);
  }
  auto end() {
    return std::apply(
        [](auto &...one) { return ZipIterator(std::end(one)...); }, ranges);
  }
};
template <typename... Ranges> Zipped<Ranges...> zip(Ranges &&...ranges) {
  return Zipped<Ranges...>(std::forward<Ranges>(ranges)...);
}
template <typename... Ranges> Zipped<Ranges...> zip_equal(Ranges &&...ranges) {
  return Zipped<Ranges...>(std::forward<Ranges>(ranges)...);
}

/// An index and an element.
template <typename Reference> struct EnumeratedElement {
  size_t number;
  Reference element;
  size_t index() const { return number; }
  Reference value() const { return element; }
  template <size_t which> decltype(auto) get() const {
    if constexpr (which == 0)
      return number;
    else
      return static_cast<Reference>(element);
  }
};
template <typename Iterator> class EnumeratedIterator {
  Iterator at;
  size_t number = 0;

public:
  explicit EnumeratedIterator(Iterator at) : at(at) {}
  auto operator*() { return EnumeratedElement<decltype(*at)>{number, *at}; }
  EnumeratedIterator &operator++() {
    ++at;
    ++number;
    return *this;
  }
  bool operator!=(const EnumeratedIterator &other) const {
    return at != other.at;
  }
};
template <typename Range> struct Enumerated {
  Range range;
  auto begin() { return EnumeratedIterator(std::begin(range)); }
  auto end() { return EnumeratedIterator(std::end(range)); }
};
template <typename Range> Enumerated<Range> enumerate(Range &&range) {
  return {std::forward<Range>(range)};
}

/// A range of the results of a function.
template <typename Iterator, typename Function> class mapped_iterator {
  Iterator at;
  Function function;

public:
  using iterator_category = std::input_iterator_tag;
  using reference =
      decltype(std::declval<Function &>()(*std::declval<Iterator &>()));
  using value_type = std::remove_reference_t<reference>;
  using difference_type = ptrdiff_t;
  using pointer = value_type *;

  mapped_iterator(Iterator at, Function function)
      : at(at), function(std::move(function)) {}
  reference operator*() const { return function(*at); }
  mapped_iterator &operator++() {
    ++at;
    return *this;
  }
  bool operator==(const mapped_iterator &other) const { return at == other.at; }
  bool operator!=(const mapped_iterator &other) const { return at != other.at; }
};
template <typename Range, typename Function>
auto map_range(Range &&range, Function function) {
  return make_range(mapped_iterator(std::begin(range), function),
                    mapped_iterator(std::end(range), function));
}
template <typename Range> auto make_first_range(Range &&range) {
  return map_range(range, [](auto &one) -> auto & { return one.first; });
}
template <typename Range> auto make_second_range(Range &&range) {
  return map_range(range, [](auto &one) -> auto & { return one.second; });
}

} // namespace llvm

namespace std {
template <typename Reference>
struct tuple_size<llvm::EnumeratedElement<Reference>>
    : std::integral_constant<size_t, 2> {};
template <size_t index, typename Reference>
struct tuple_element<index, llvm::EnumeratedElement<Reference>>
    : std::conditional<index == 0, size_t, Reference> {};
} // namespace std

#endif // ACTIONDBG_LLVM_STLEXTRAS_H
