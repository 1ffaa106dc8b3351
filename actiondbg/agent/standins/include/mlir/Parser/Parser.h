//===- Parser.h - Text as IR ------------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"

namespace mlir {

/// The tool's, with room for what is behind: empty maps and vectors.
class ParserConfig {
public:
  ParserConfig(MLIRContext *context, bool verifyAfterParse)
      : context(context), verifyAfterParse(verifyAfterParse) {}

private:
  MLIRContext *context;
  bool verifyAfterParse;
  uint64_t others[64] = {};
};

ADBG_STAND_IN inline LogicalResult parseSourceString(StringRef text,
                                                     Block *block,
                                                     const ParserConfig &config,
                                                     StringRef name) {
  return adbg::tool::parseSource(text, block, &config, name, nullptr);
}

} // namespace mlir
