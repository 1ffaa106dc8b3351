//===- FirstCall.h - Functions of the tool that are tried first -*- C++ -*-===//

#ifndef ACTIONDBG_LAYOUT_FIRSTCALL
#define ACTIONDBG_LAYOUT_FIRSTCALL

#include "layout/Proof.h"

#include <mutex>

namespace adbg {

/// The first call of a function of the tool, which is made in a fork.
class FirstCall {
public:
  /// Whether the first of these calls came to its end.
  bool isSafe(llvm::function_ref<void()> call) {
    if (isTried)
      return true; // a hook on the way of the call makes another one
    std::call_once(once, [&] {
      auto step = [&]() -> std::string {
        isTried = true;
        call();
        return "";
      };
      isGood = proveInForks({step}).front().empty();
    });
    return isGood;
  }

private:
  std::once_flag once;
  /// In the fork.
  bool isTried = false;
  bool isGood = false;
};

} // namespace adbg

#endif // ACTIONDBG_LAYOUT_FIRSTCALL
