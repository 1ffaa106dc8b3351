//===- SmallPtrSet.h - Sets of pointers -------------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/DenseSet.h"

namespace llvm {

template <typename Pointer> using SmallPtrSetImpl = DenseSet<Pointer>;

template <typename Pointer, unsigned inner>
class SmallPtrSet : public DenseSet<Pointer> {
public:
  using DenseSet<Pointer>::DenseSet;
};

} // namespace llvm
