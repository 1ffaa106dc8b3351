//===- iterator_range.h - Two iterators as a range --------------*- C++ -*-===//

#pragma once

#include <utility>

namespace llvm {

template <typename Iterator> class iterator_range {
  Iterator first, last;

public:
  using iterator = Iterator;

  iterator_range(Iterator first, Iterator last)
      : first(std::move(first)), last(std::move(last)) {}

  Iterator begin() const { return first; }
  Iterator end() const { return last; }
};

template <typename Iterator>
iterator_range<Iterator> make_range(Iterator first, Iterator last) {
  return {std::move(first), std::move(last)};
}
} // namespace llvm
