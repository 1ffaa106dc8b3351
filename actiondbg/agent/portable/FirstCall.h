//===- FirstCall.h - Functions of the tool that are tried first -*- C++ -*-===//

#ifndef ACTIONDBG_PORTABLE_FIRSTCALL_H
#define ACTIONDBG_PORTABLE_FIRSTCALL_H

#include "portable/Proof.h"

#include <mutex>

namespace adbg {

/// The first call of a function of the tool, which is made in a fork.
class FirstCall {
public:
  /// Whether the first of these calls came to its end.
  bool isSafe(llvm::function_ref<void()> call) {
    std::call_once(once, [&] {
      auto step = [&]() -> std::string {
        call();
        return "";
      };
      isGood = proveInForks({step}).front().empty();
    });
    return isGood;
  }

private:
  std::once_flag once;
  bool isGood = false;
};

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_FIRSTCALL_H
