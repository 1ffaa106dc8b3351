//===- Legalizations.h - No requests about conversions ----------*- C++ -*-===//
//
// Replaces requests/Legalizations.h in the portable agent.
//
//===----------------------------------------------------------------------===//
