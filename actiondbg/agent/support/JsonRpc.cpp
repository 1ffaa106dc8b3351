//===- JsonRpc.cpp - The envelope of messages -----------------------------===//

#include "support/JsonRpc.h"

namespace adbg {

Envelope Envelope::open(StringRef line) {
  Envelope envelope;
  std::string error;
  std::optional<Json> parsed = llvm::json::parse(line, &error);
  if (!parsed) {
    envelope.error.emplace(ParseError, "the line is not JSON: " + error);
    return envelope;
  }
  Object *object = parsed->getAsObject();
  std::optional<StringRef> method;
  if (object)
    method = object->getString("method");
  if (!method || object->getString("jsonrpc") != StringRef("2.0")) {
    envelope.error.emplace(InvalidRequest,
                           "the line is not a JSON-RPC 2.0 request");
    return envelope;
  }
  envelope.method = method->str();
  if (const Json *id = object->get("id"))
    envelope.id = *id;
  if (Json *params = object->get("params")) {
    if (Object *fields = params->getAsObject())
      envelope.params = std::move(*fields);
    else
      envelope.error.emplace(InvalidParams, "'params' is not an object");
  }
  return envelope;
}

Json resultMessage(Json id, Json result) {
  return Object{
      {"jsonrpc", "2.0"}, {"id", std::move(id)}, {"result", std::move(result)}};
}

Json errorMessage(Json id, const RequestError &error) {
  return Object{
      {"jsonrpc", "2.0"},
      {"id", std::move(id)},
      {"error", Object{{"code", error.code}, {"message", error.message}}}};
}

} // namespace adbg
