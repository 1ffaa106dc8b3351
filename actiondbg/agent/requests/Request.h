//===- Request.h - Requests of the front end --------------------*- C++ -*-===//

#pragma once

#include "support/Connection.h"
#include "support/Fields.h"

namespace adbg {

class Engine;

/// No answer: this process is a fork made while the request ran, and its parent
/// answers.
struct Unanswered {};

/// The result of a request, or the error that refuses it.
template <class Result>
using Answer = std::variant<Result, RequestError, Unanswered>;

/// The result of a request that returns nothing: an empty object.
struct NoResult {};
inline Json toJSON(NoResult) { return Object{}; }

/// A request of the front end, which is answered while the tool is stopped.
/// Aligned so that a compiler that aligns large variables leaves no room
/// between two of them.
struct alignas(64) Request {
  StringRef method;
  Answer<Json> (*answer)(Engine &engine, Fields &fields);
  /// Whether it reads IR, or calls functions of the tool with it.
  bool readsIR = false;
};
constexpr bool readsIR = true;

/// Calls a handler. Its `Arguments`, of which there may be none, are
/// constructed from the fields of the request: they read each of them and fail
/// on a wrong value. A field that they do not read is unknown and is refused
/// here. The handler may move from them. `Result` converts to JSON.
template <class Result, class... Arguments>
Answer<Json> answerBy(Answer<Result> (*handler)(Engine &, Arguments &...),
                      Engine &engine, Fields &fields) {
  std::tuple<Arguments...> arguments{Arguments(fields)...};
  if (!fields.done())
    return RequestError(InvalidParams, fields.error);
  Answer<Result> answer = std::apply(
      [&](Arguments &...each) { return handler(engine, each...); }, arguments);
  if (auto *error = std::get_if<RequestError>(&answer))
    return std::move(*error);
  if (auto *result = std::get_if<Result>(&answer))
    return Json(std::move(*result));
  return Unanswered();
}

template <auto handler> Answer<Json> by(Engine &engine, Fields &fields) {
  return answerBy(handler, engine, fields);
}

/// Enters a request into the table, behind its handler.
#define ADBG_REQUEST(METHOD, HANDLER, ...)                                     \
  __attribute__((section("adbg_requests"),                                     \
                 used)) static constexpr Request HANDLER##Request = {          \
      METHOD, by<HANDLER> __VA_OPT__(, ) __VA_ARGS__};

RequestError notWritten(const std::string &path, std::error_code error);
/// Why there is no IR at this stop.
RequestError noIR(const Engine &engine);
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
Answer<Object> answerInFork(function_ref<Answer<Object>()> compute);

/// Whether a computation ends without a crash in a fork of the tool, within ten
/// seconds; true if there can be no fork.
bool survivesInFork(function_ref<void()> compute);

} // namespace adbg
