//===- iterator_range.h - Two iterators as a range --------------*- C++ -*-===//

#pragma once

#include <type_traits>
#include <utility>

namespace llvm {

template <typename Iterator> class iterator_range {
  Iterator first, last;

public:
  using iterator = Iterator;

  iterator_range(Iterator first, Iterator last)
      : first(std::move(first)), last(std::move(last)) {}
  template <typename Container, typename = std::enable_if_t<!std::is_same_v<
                                    std::decay_t<Container>, iterator_range>>>
  iterator_range(Container &&all) : first(all.begin()), last(all.end()) {}

  Iterator begin() const { return first; }
  Iterator end() const { return last; }
  bool empty() const { return first == last; }
};

template <typename Iterator>
iterator_range<Iterator> make_range(Iterator first, Iterator last) {
  return {std::move(first), std::move(last)};
}
template <typename Iterator>
iterator_range<Iterator> make_range(std::pair<Iterator, Iterator> both) {
  return {std::move(both.first), std::move(both.second)};
}

} // namespace llvm
