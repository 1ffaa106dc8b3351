//===- Report.h - The end of a counted program ------------------*- C++ -*-===//

#pragma once

/// Prints why nothing could be counted, or the statistics of standalone
/// counting.
void reportAtEnd(void);
