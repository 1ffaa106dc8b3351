//===- Report.h - The end of a counted program ------------------*- C++ -*-===//

#ifndef ACTIONDBG_CALLS_REPORT_H
#define ACTIONDBG_CALLS_REPORT_H

/// Prints why nothing could be counted, or the statistics of standalone
/// counting.
void reportAtEnd(void);

#endif // ACTIONDBG_CALLS_REPORT_H
