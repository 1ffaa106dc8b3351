//===- STLExtras.h - Algorithms over ranges ---------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

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
/// Calls `each` for the elements, and writes a separator between two of them.
template <typename Range, typename Stream, typename Each>
void interleave(Range &&range, Stream &os, Each each, StringRef separator) {
  StringRef before;
  for (auto &&one : range) {
    os << std::exchange(before, separator);
    each(one);
  }
}
template <typename Range, typename Stream, typename Each>
void interleaveComma(Range &&range, Stream &os, Each each) {
  interleave(range, os, each, ", ");
}

} // namespace llvm
