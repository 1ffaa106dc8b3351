//===- RequestTable.cpp - The table of requests ---------------------------===//

#include "engine/Engine.h"
#include "requests/InFork.h"
#include "requests/Request.h"

using llvm::StringRef;
using Json = llvm::json::Value;

namespace adbg {

static const Request *findRequest(StringRef method) {
  for (auto *topic :
       {alternativeRequests, breakpointRequests, controlRequests,
        cursorRequests, excerptRequests, factRequests, forkRequests,
        legalizationRequests, nativeRequests, printRequests, recordingRequests,
        stackRequests, statusRequests})
    for (const Request &one : topic())
      if (one.method == method)
        return &one;
  return nullptr;
}

static Answer<Json> answer(Engine &engine, const Envelope &envelope) {
  if (envelope.error)
    return *envelope.error;
  const Request *request = findRequest(envelope.method);
  if (!request)
    return RequestError(NoSuchMethod,
                        "there is no method '" + envelope.method + "'");
  Fields fields(envelope.params);
  if (request->readsIR && engine.stops.isForced &&
      !survivesInFork([&] { (void)request->answer(engine, fields); }))
    return RequestError(UnitErased,
                        "this cannot be answered in the middle of the "
                        "action: its IR is incomplete, or the tool holds a "
                        "lock; 'step' to the next action");
  return request->answer(engine, fields);
}

std::optional<Json> answerLine(Engine &engine, StringRef line) {
  Envelope envelope = Envelope::open(line);
  // An interrupt that arrives after a stop has no further effect.
  if (envelope.isInterrupt() && !envelope.error)
    return std::nullopt;
  Answer<Json> answered = answer(engine, envelope);
  if (auto *error = std::get_if<RequestError>(&answered))
    return errorMessage(std::move(envelope.id), *error);
  if (auto *result = std::get_if<Json>(&answered))
    return resultMessage(std::move(envelope.id), std::move(*result));
  return std::nullopt;
}

} // namespace adbg
