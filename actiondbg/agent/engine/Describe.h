//===- Describe.h - Actions and IR as JSON ----------------------*- C++ -*-===//

#pragma once

#include "observe/Observer.h"

namespace adbg {

/// Describes an operation and what a pattern may look at around it: the
/// operations that define its operands and theirs, its users, attributes,
/// types, regions, successors and parents. Its size is bounded.
Object describeNeighbourhood(Operation *op, OperationNames &names);

/// Adds the capabilities whose check has passed in this process, and why others
/// are missing: ends of sentences.
void addCapabilities(Object &message);

/// Adds the capabilities whose check has failed since hello, with the reasons,
/// to a stop, once.
void addLostCapabilities(Object &stop);

class Engine;

Object hello(const Engine &engine);
Array describeWritten();
/// Returns "before", "after", or "during" an action.
StringRef whenOf(const Frame &frame, bool inside);
void addAction(Object &object, const Frame &frame);
/// Adds the operation of an action to a stop or a frame.
void addOperation(Object &object, const Frame &frame);
void addOperation(Object &object, Operation *op);
Object describeFrame(const Frame &frame, int64_t index, bool withUnits = true);
/// Describes an action in full. `inside`: the stop is inside the action.
Object describeAction(const Frame &frame, int64_t index, bool inside);
Object describeUnit(const IRUnit &unit);
/// Returns "operation", "region", "block" or "value".
StringRef kindText(const IRUnit &unit);
Array describeUnits(const Frame &frame);

Json describeOutcome(const Frame &frame);
/// Describes the first `most` of the stored changes.
Array describeChanges(const Frame &frame, const ChangeLog &log, bool nested,
                      uint64_t most);
Json toJSON(const Culprit &culprit);
std::string describeFolded(OpFoldResult result, const Observer &observer);
Json idOrNull(uint32_t id);
/// Returns a text; null if it is empty.
Json textOrNull(StringRef text);
/// Returns the id of a unit's operation: the unit itself, or the one that
/// contains or defines it; 0 if there is none.
uint32_t idOf(const IRUnit &unit);

/// Returns FILE:LINE:COL of the first file location inside `loc`.
std::optional<std::string> placeText(Location loc);

/// Returns an operation in `op` of which an operand is null, as can happen
/// inside an action: verifiers and custom printers would crash. Null if there
/// is none.
Operation *nullOperandIn(Operation *op);

} // namespace adbg
