//===- Alternatives.h - No requests about alternatives ----------*- C++ -*-===//
//
// Replaces requests/Alternatives.h in the portable agent.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_PORTABLE_REQUESTS_ALTERNATIVES_H
#define ACTIONDBG_PORTABLE_REQUESTS_ALTERNATIVES_H

namespace adbg {

class Engine;

inline void finishAlternative(Engine &) {}

} // namespace adbg

#endif // ACTIONDBG_PORTABLE_REQUESTS_ALTERNATIVES_H
