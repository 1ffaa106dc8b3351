//===- Cursor.h - Requests about the cursor ---------------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_CURSOR_H
#define ACTIONDBG_REQUESTS_CURSOR_H

#include "match/Glob.h"
#include "requests/IRSearch.h"
#include "requests/Request.h"

namespace adbg {

/// Why there is no IR at this stop.
RequestError noIR(const Engine &engine);

/// cursor/get: the IR unit in view.
class GetCursor : public Request<NoArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(NoArguments &) override;
};

struct MoveCursorArguments {
  std::string to;
  int64_t index, count;
  std::string name, path;
  int64_t line, column;
  explicit MoveCursorArguments(Fields &fields);
};

/// cursor/move: moves the cursor to another IR unit.
class MoveCursor : public Request<MoveCursorArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  using Arguments = MoveCursorArguments;
  Answer<llvm::json::Object> run(Arguments &arguments) override;

private:
  /// Moves to a unit; fails with `otherwise` if it is null.
  Answer<llvm::json::Object> moveTo(mlir::IRUnit unit,
                                    const llvm::Twine &otherwise);
  Answer<llvm::json::Object> moveToContext(int64_t index);
  Answer<llvm::json::Object> moveToId(int64_t id);
  Answer<llvm::json::Object> moveToSibling(int64_t count, bool forward);
  Answer<llvm::json::Object> moveToLink(int64_t index, bool users);
  Answer<llvm::json::Object> moveFound(FoundUnit found);
  Answer<llvm::json::Object> moveAround(const Arguments &arguments);
};

struct GetLinksArguments {
  std::string direction;
  explicit GetLinksArguments(Fields &fields);
};

/// cursor/links: the operations that define the cursor's operands, or those
/// that use its results.
class GetLinks : public Request<GetLinksArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(GetLinksArguments &arguments) override;
};

struct CountOperationsArguments {
  std::optional<Glob> glob;
  bool function;
  explicit CountOperationsArguments(Fields &fields);
};

/// count: the number of operations whose name matches a glob.
class CountOperations
    : public Request<CountOperationsArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(CountOperationsArguments &arguments) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_CURSOR_H
