//===- RequestTable.h - The table of requests -------------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTTABLE_H
#define ACTIONDBG_REQUESTTABLE_H

#include "llvm/Support/JSON.h"
#include <optional>

namespace adbg {

class Engine;

/// Returns the answer to a line of the front end, while the tool is stopped;
/// nothing if no answer is due.
std::optional<llvm::json::Value> answerLine(Engine &engine,
                                            llvm::StringRef line);

} // namespace adbg

#endif // ACTIONDBG_REQUESTTABLE_H
