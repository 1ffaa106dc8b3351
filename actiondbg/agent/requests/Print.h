//===- Print.h - The request that prints IR ---------------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_PRINT_H
#define ACTIONDBG_REQUESTS_PRINT_H

#include "requests/Request.h"

namespace adbg {

struct PrintArguments {
  std::string what, path, names, order;
  int64_t id;
  bool generic, locations, skipRegions, mark;
  int64_t elide;
  explicit PrintArguments(Fields &fields);
};

/// print: prints IR into a file.
class Print : public Request<PrintArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(PrintArguments &arguments) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_PRINT_H
