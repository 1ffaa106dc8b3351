//===- Excerpt.h - Requests about a few lines of IR -------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_EXCERPT_H
#define ACTIONDBG_REQUESTS_EXCERPT_H

#include "requests/Request.h"

namespace adbg {

struct ExcerptArguments {
  int64_t id, part, before, after, elide;
  bool definitions;
  explicit ExcerptArguments(Fields &fields);
};

/// excerpt: the lines around the cursor or an operation. The time that it takes
/// depends on their number, not on the size of the function.
class GetExcerpt : public Request<ExcerptArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(ExcerptArguments &arguments) override;
};

struct ValueNamesArguments {
  int64_t id, most;
  std::string path;
  explicit ValueNamesArguments(Fields &fields);
};

/// values: writes the names that MLIR's printer gives to the values in an
/// operation, with their keys, into a file.
class WriteValueNames
    : public Request<ValueNamesArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(ValueNamesArguments &arguments) override;
};

struct FindNamedArguments {
  std::string name;
  explicit FindNamedArguments(Fields &fields);
};

/// values/named: the values that the input names so, dead or alive, and the
/// scope of the cursor.
class FindNamed : public Request<FindNamedArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(FindNamedArguments &arguments) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_EXCERPT_H
