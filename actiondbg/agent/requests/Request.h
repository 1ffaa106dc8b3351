//===- Request.h - The base of all requests ---------------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUEST_H
#define ACTIONDBG_REQUEST_H

#include "support/Fields.h"
#include "support/JsonRpc.h"
#include <variant>

namespace adbg {

class Engine;

/// No answer: this process is a fork made while the request ran, and its parent
/// answers.
struct Unanswered {};

/// The result of a request, or the error that refuses it.
template <class Result>
using Answer = std::variant<Result, RequestError, Unanswered>;

/// The arguments of a request that takes none.
struct NoArguments {
  explicit NoArguments(Fields &) {}
};

/// The result of a request that returns nothing: an empty object.
struct NoResult {};
inline llvm::json::Value toJSON(NoResult) { return llvm::json::Object{}; }

/// A request: constructed for one line of the front end, while the tool is
/// stopped.
///
/// `Arguments` is constructed from the fields of the request: it reads each of
/// them and fails on a wrong value. A field that it does not read is unknown
/// and is refused here. `Result` converts to JSON.
template <class Arguments, class Result> class Request {
public:
  explicit Request(Engine &engine) : engine(engine) {}
  virtual ~Request() = default;

  Answer<llvm::json::Value> answer(Fields &fields) {
    Arguments arguments(fields);
    if (!fields.done())
      return RequestError(InvalidParams, fields.error);
    Answer<Result> answer = run(arguments);
    if (auto *error = std::get_if<RequestError>(&answer))
      return std::move(*error);
    if (auto *result = std::get_if<Result>(&answer))
      return llvm::json::Value(std::move(*result));
    return Unanswered();
  }

protected:
  /// Handles the request; may move from the arguments.
  virtual Answer<Result> run(Arguments &arguments) = 0;

  Engine &engine;
};

} // namespace adbg

#endif // ACTIONDBG_REQUEST_H
