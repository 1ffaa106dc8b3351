//===- SmallString.h - Text with room inside --------------------*- C++ -*-===//

#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {

template <unsigned inner> class SmallString : public SmallVector<char, inner> {
public:
  operator StringRef() const { return {this->data(), this->size()}; }
};

} // namespace llvm
