//===- RequestTable.cpp - The table of requests ---------------------------===//

#include "engine/Engine.h"
#include "fork/QuietFork.h"
#include "requests/Request.h"

extern "C" {
/// The section of the requests, from the linker.
extern const adbg::Request __start_adbg_requests[]
    __attribute__((visibility("hidden")));
extern const adbg::Request __stop_adbg_requests[]
    __attribute__((visibility("hidden")));
}

namespace adbg {

static const Request *findRequest(StringRef method) {
  for (const Request &one :
       ArrayRef(__start_adbg_requests, __stop_adbg_requests))
    if (one.method == method)
      return &one;
  return nullptr;
}

static Answer answer(Engine &engine, const Envelope &envelope) {
  if (envelope.error)
    return *envelope.error;
  const Request *request = findRequest(envelope.method);
  if (!request)
    return RequestError(NoSuchMethod,
                        "there is no method '" + envelope.method + "'");
  Fields fields(envelope.params);
  if (request->readsIR && engine.stops.isForced &&
      !survivesInFork([&] { (void)request->answer(engine, fields); }))
    return RequestError(
        UnitErased,
        "this cannot be answered in the middle of the action: its IR is "
        "incomplete, or the tool holds a lock; 'step' to the next action");
  return request->answer(engine, fields);
}

RequestError notWritten(const std::string &path, std::error_code error) {
  return RequestError(FileNotWritten,
                      "cannot write " + path + ": " + error.message());
}

//===----------------------------------------------------------------------===//
// Questions that are asked together
//===----------------------------------------------------------------------===//

namespace {
struct Asked {
  std::string method;
  Object params;
};
} // namespace

/// Reads the questions; other fields of theirs are passed over.
static std::vector<Asked> askedIn(Fields &fields) {
  std::vector<Asked> all;
  fields.eachObject("requests", [&](Fields &inner) {
    std::string method = inner.text("method");
    const Object *params = inner.optionalObject("params");
    all.push_back({std::move(method), params ? *params : Object()});
  });
  return all;
}

/// Whether a request changes nothing, not even the cursor.
static bool isQuestion(StringRef method) {
  return llvm::is_contained<StringRef>({"action", "backtrace", "changes",
                                        "context", "cursor/get", "cursor/links",
                                        "excerpt"},
                                       method);
}

static Object answerAsked(Engine &engine, const Asked &asked) {
  Fields fields(asked.params);
  Answer answered = findRequest(asked.method)->answer(engine, fields);
  if (auto *result = std::get_if<Json>(&answered))
    return Object{{"result", std::move(*result)}};
  return Object{{"error", std::get<RequestError>(answered)}};
}

/// together: several questions, answered in one fork, as each fork takes longer
/// than most answers.
static Answer getTogether(Engine &engine, const std::vector<Asked> &asked) {
  for (const Asked &one : asked)
    if (!isQuestion(one.method))
      return RequestError(
          InvalidParams,
          "'" + one.method +
              "' is no question that can be asked together with others");
  return answerInFork([&] {
    auto answerOne = [&](const Asked &one) { return answerAsked(engine, one); };
    return Object{{"answers", Array(asked, answerOne)}};
  });
}
ADBG_IR_REQUEST("together", getTogether, askedIn(fields))

std::optional<Json> answerLine(Engine &engine, StringRef line) {
  Envelope envelope = Envelope::open(line);
  // An interrupt that arrives after a stop has no further effect.
  if (envelope.isInterrupt() && !envelope.error)
    return std::nullopt;
  Answer answered = answer(engine, envelope);
  if (auto *error = std::get_if<RequestError>(&answered))
    return answerMessage(std::move(envelope.id), "error", *error);
  if (auto *result = std::get_if<Json>(&answered))
    return answerMessage(std::move(envelope.id), "result", std::move(*result));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Answers computed in a fork
//===----------------------------------------------------------------------===//

/// Whether this process is such a fork, which needs no fork of its own.
static bool isInFork = false;

static void sendToParent(int fd, Answer answer) {
  raw_fd_ostream os(fd, /*shouldClose=*/true);
  if (auto *error = std::get_if<RequestError>(&answer))
    os << Json(*error);
  else
    os << Json(Object{{"result", std::move(std::get<Json>(answer))}});
}

Answer answerInFork(function_ref<Answer()> compute) {
  if (isInFork)
    return compute();
  ForkEnd end = runInFork([&](int fd) {
    isInFork = true;
    sendToParent(fd, compute());
  });
  if (!end.isForked)
    return compute();
  if (!end.text)
    return RequestError(
        UnitErased,
        "this IR cannot be printed at this stop: a fork of the tool prints it, "
        "and waits for a lock that another thread of the tool held");
  std::optional<Json> parsed = llvm::json::parse(*end.text);
  Object *answer = parsed ? parsed->getAsObject() : nullptr;
  if (!answer)
    return RequestError(
        UnitErased, "this IR cannot be printed at this stop: it is incomplete, "
                    "and printing it crashes; print less, or use --generic");
  if (int64_t code = answer->getInteger("code").value_or(0))
    return RequestError(code, answer->getString("message")->str());
  return std::move(*answer->getObject("result"));
}

bool survivesInFork(function_ref<void()> compute) {
  auto run = [&](int fd) {
    compute();
    sendToParent(fd, Object());
  };
  ForkEnd end = runInFork(run, std::chrono::seconds(10));
  return !end.isForked || (end.text && !end.text->empty());
}

} // namespace adbg
