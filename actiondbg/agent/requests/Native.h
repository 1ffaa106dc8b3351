//===- Native.h - Requests about native debuggers ---------------*- C++ -*-===//

#ifndef ACTIONDBG_REQUESTS_NATIVE_H
#define ACTIONDBG_REQUESTS_NATIVE_H

#include "requests/Request.h"

namespace adbg {

struct PrepareNativeArguments {
  /// The file or terminal for the output of this process.
  std::string output;
  explicit PrepareNativeArguments(Fields &fields)
      : output(fields.text("output")) {}
};

/// native/prepare: readies a replica for a native debugger.
class PrepareNative
    : public Request<PrepareNativeArguments, llvm::json::Object> {
public:
  using Request::Request;

protected:
  Answer<llvm::json::Object> run(PrepareNativeArguments &arguments) override;
};

} // namespace adbg

#endif // ACTIONDBG_REQUESTS_NATIVE_H
