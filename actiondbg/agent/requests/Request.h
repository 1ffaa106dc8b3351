//===- Request.h - What all requests of the front end share -----*- C++ -*-===//

#ifndef ACTIONDBG_REQUEST_H
#define ACTIONDBG_REQUEST_H

#include "support/Fields.h"
#include "support/JsonRpc.h"
#include <variant>

namespace adbg {

class Engine;

/// This process has no request to answer: its parent, from which it was forked
/// while the request ran, answers it.
struct Unanswered {};

/// The result of a request, or why it is refused.
template <class Result>
using Answer = std::variant<Result, RequestError, Unanswered>;

/// The arguments of a request that takes none.
struct NoArguments {
  explicit NoArguments(Fields &) {}
};

/// The result of a request that returns nothing: an empty object.
struct NoResult {};
inline llvm::json::Value toJSON(NoResult) { return llvm::json::Object{}; }

/// A request. It is made for one line of the front end, while the tool is
/// stopped.
///
/// `Arguments` is constructed from the fields of the request: it reads each of
/// them, and fails them on a wrong value. A field that it does not read is
/// unknown, and refused here. `Result` converts to JSON.
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
  /// Owns the arguments: may take what they hold.
  virtual Answer<Result> run(Arguments &arguments) = 0;

  Engine &engine;
};

} // namespace adbg

#endif // ACTIONDBG_REQUEST_H
