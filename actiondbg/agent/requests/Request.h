//===- Request.h - Requests of the front end --------------------*- C++ -*-===//

#pragma once

#include "support/Connection.h"
#include "support/Fields.h"

#include "mlir/IR/Unit.h"

namespace adbg {

class Engine;

/// No answer: this process is a fork made while the request ran, and its parent
/// answers.
struct Unanswered {};

/// The result of a request, an object, or the error that refuses it.
using Answer = std::variant<Json, RequestError, Unanswered>;

/// A request of the front end, which is answered while the tool is stopped.
/// Aligned so that a compiler that aligns large variables leaves no room
/// between two of them.
struct alignas(64) Request {
  StringRef method;
  Answer (*answer)(Engine &engine, Fields &fields);
  /// Whether it reads IR, or calls functions of the tool with it.
  bool readsIR;
};

/// Calls a handler with arguments that were read from the fields of a request.
/// A field that none of them has read is unknown and is refused here.
template <class Handler, class... Arguments>
Answer answerBy(Handler handler, Engine &engine, Fields &fields,
                std::tuple<Arguments...> arguments) {
  if (!fields.done())
    return RequestError(InvalidParams, fields.error);
  auto call = [&](Arguments &...each) {
    return handler(engine, std::move(each)...);
  };
  return std::apply(call, arguments);
}

/// Enters a request into the table, behind its handler. The arguments of the
/// handler follow, read from `fields` in their order.
#define ADBG_REQUEST(METHOD, HANDLER, ...)                                     \
  ADBG_ENTER_REQUEST(METHOD, HANDLER, false, __VA_ARGS__)
/// Likewise one that reads IR.
#define ADBG_IR_REQUEST(METHOD, HANDLER, ...)                                  \
  ADBG_ENTER_REQUEST(METHOD, HANDLER, true, __VA_ARGS__)
#define ADBG_ENTER_REQUEST(METHOD, HANDLER, READS_IR, ...)                     \
  __attribute__((section("adbg_requests"),                                     \
                 used)) static constexpr Request HANDLER##Request = {          \
      METHOD,                                                                  \
      [](Engine &engine, Fields &fields) {                                     \
        return answerBy(HANDLER, engine, fields, std::tuple{__VA_ARGS__});     \
      },                                                                       \
      READS_IR};

/// Returns the indices that lead from `root` to `unit`: of a region in its
/// operation, of a block in its region, of an operation in its block.
Array pathTo(const IRUnit &unit, Operation *root);

/// Returns the module that contains an operation. For an operation of a running
/// schedule, returns the module that the schedule changes: the schedule may be
/// in a library.
Operation *moduleOf(const Engine &engine, Operation *op);

RequestError notWritten(const std::string &path, std::error_code error);
/// Why there is no IR at this stop.
RequestError noIR(const Engine &engine);
RequestError noOperation(int64_t id);
/// Writes the census of the final IR, if this fork is to.
void finishAlternative(Engine &engine);

/// Returns the answer to a line of the front end, while the tool is stopped;
/// nothing if no answer is due.
std::optional<Json> answerLine(Engine &engine, StringRef line);

/// Computes an answer in a fork of the tool, whose memory is freed at once; IR
/// that crashes or hangs its printer does not affect the tool. Printing makes
/// attributes, which would move what the tool allocates later: a replay, in
/// which nothing is printed, would then differ. The answer is computed here if
/// there can be no fork.
Answer answerInFork(function_ref<Answer()> compute);

/// Whether a computation ends without a crash in a fork of the tool, within ten
/// seconds; true if there can be no fork.
bool survivesInFork(function_ref<void()> compute);

} // namespace adbg
