//===- Describe.h - Actions and IR as JSON ----------------------*- C++ -*-===//

#pragma once

#include "engine/Frame.h"
#include "observe/Observer.h"
#include "support/Traits.h"

#include "llvm/Support/JSON.h"
#include <optional>

namespace adbg {

/// Describes an operation and what a pattern may look at around it: the
/// operations that define its operands and theirs, its users, attributes,
/// types, regions, successors and parents. Its size is bounded.
llvm::json::Object describeNeighbourhood(mlir::Operation *op,
                                         OperationNames &names);

/// The names of the capabilities whose check has passed in this process.
llvm::json::Array capabilities();

/// Why capabilities are missing, by their names: ends of sentences.
llvm::json::Object missingCapabilities();

/// Adds the capabilities whose check has failed since hello, with the reasons,
/// to a stop, once.
void addLostCapabilities(llvm::json::Object &stop);

class Engine;
struct Notice;

llvm::json::Object hello(const Engine &engine);
llvm::json::Array describeWritten();
/// Describes a stop, without its position. `inside`: the stop is inside the
/// action, not before or after it. `mostChanges`: the most changes to describe.
llvm::json::Object describeStop(const Frame &frame, const Notice &notice,
                                const ChangeLog &log, bool inside,
                                uint64_t mostChanges);
/// Describes the run of the innermost pass around an action; null if there is
/// none, or an alternative runs it. `begun`: the number of runs of all passes.
llvm::json::Value describePassRun(const Frame &frame, uint64_t begun);
/// Adds the operation of an action to a stop or a frame.
void addOperation(llvm::json::Object &object, const Frame &frame);
void addOperation(llvm::json::Object &object, mlir::Operation *op);
llvm::json::Object describeCrash(const Frame *innermost);
llvm::json::Array describeHits(llvm::ArrayRef<Breakpoint> breakpoints);
llvm::json::Object describeFrame(const Frame &frame, int64_t index,
                                 bool withUnits = true);
/// Describes an action in full; see describeStop for `inside`.
llvm::json::Object describeAction(const Frame &frame, int64_t index,
                                  bool inside);
llvm::json::Object describeUnit(const mlir::IRUnit &unit);
/// Returns "operation", "region", "block" or "value".
llvm::StringRef kindText(const mlir::IRUnit &unit);
llvm::json::Array describeUnits(const Frame &frame);

// DescribeOutcome.cpp
llvm::json::Value describeOutcome(const Frame &frame);
/// Describes the first `most` of the stored changes.
llvm::json::Array describeChanges(const Frame &frame, const ChangeLog &log,
                                  bool nested, uint64_t most);
llvm::json::Value describeCulprit(const std::optional<Culprit> &culprit);
void addOutcome(llvm::json::Object &stop, const Frame &frame,
                const ChangeLog &log, uint64_t mostChanges);
std::string describeFolded(mlir::OpFoldResult result, const Observer &observer);
llvm::json::Value idOrNull(uint32_t id);
/// Returns the id of a unit's operation: the unit itself, or the one that
/// contains or defines it; 0 if there is none.
uint32_t idOf(const mlir::IRUnit &unit);

/// Replaces invalid UTF-8, which JSON forbids: names and file names may contain
/// any bytes.
llvm::json::Value safe(llvm::StringRef text);
template <typename T> llvm::json::Value orNull(const std::optional<T> &value) {
  return value ? safe(*value) : llvm::json::Value(nullptr);
}

/// Returns FILE:LINE:COL of the first file location inside `loc`.
std::optional<std::string> placeText(mlir::Location loc);

/// Whether an operand inside `op` is null, as can happen inside an action:
/// verifiers and custom printers would crash.
bool hasNullOperands(mlir::Operation *op);

} // namespace adbg
