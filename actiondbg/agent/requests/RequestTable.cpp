//===- RequestTable.cpp - The table of requests ---------------------------===//

#include "requests/RequestTable.h"
#include "requests/Alternatives.h"
#include "requests/Breakpoints.h"
#include "requests/Control.h"
#include "requests/Cursor.h"
#include "requests/Excerpt.h"
#include "requests/Facts.h"
#include "requests/Fork.h"
#include "requests/InFork.h"
#include "requests/Legalizations.h"
#include "requests/Native.h"
#include "requests/Print.h"
#include "requests/Recording.h"
#include "requests/Stack.h"
#include "requests/Status.h"

using llvm::StringLiteral;
using llvm::StringRef;
using Json = llvm::json::Value;

namespace adbg {

namespace {
struct Entry {
  StringLiteral method;
  Answer<Json> (*answer)(Engine &engine, Fields &fields);
  /// Whether it reads IR, or calls functions of the tool with it.
  bool readsIR = false;
};
constexpr bool readsIR = true;
} // namespace

template <class Handler>
static Answer<Json> by(Engine &engine, Fields &fields) {
  return Handler(engine).answer(fields);
}

// To add a request, write a class in the file of its topic and a line here.
static constexpr Entry requests[] = {
    {"breakpoints/set", by<SetBreakpoints>},
    {"breakpoints/hits", by<GetHits>},
    {"log/open", by<OpenLog>},
    {"log/close", by<CloseLog>},
    {"legalizations/open", by<OpenLegalizations>},
    {"legalizations/close", by<CloseLegalizations>},
    {"recording/open", by<OpenRecording>},
    {"recording/stage", by<RecordStage>},
    {"recording/close", by<CloseRecording>},

    {"resume", by<Resume>},
    {"skips/get", by<GetSkips>},
    {"skips/set", by<SetSkips>},
    {"plan/set", by<SetPlan>},

    {"backtrace", by<GetBacktrace>, readsIR},
    {"frame/select", by<SelectFrame>, readsIR},
    {"action", by<GetAction>, readsIR},
    {"context", by<GetContext>, readsIR},
    {"changes", by<GetChanges>, readsIR},
    {"pipeline", by<GetPipeline>, readsIR},

    {"cursor/get", by<GetCursor>, readsIR},
    {"cursor/move", by<MoveCursor>, readsIR},
    {"cursor/links", by<GetLinks>, readsIR},
    {"count", by<CountOperations>, readsIR},
    {"print", by<Print>, readsIR},
    {"excerpt", by<GetExcerpt>, readsIR},
    {"values", by<WriteValueNames>, readsIR},
    {"values/named", by<FindNamed>, readsIR},

    {"status", by<GetStatus>},
    {"contexts", by<GetContexts>},
    {"threads", by<GetThreads>},
    {"names", by<GetNames>},
    {"statistics", by<GetStatistics>},
    {"options/set", by<SetOptions>},

    {"fork", by<Fork>},
    {"settle", by<Settle>},
    {"follow", by<Follow>},
    {"exit", by<Exit>},
    {"alternative/set", by<SetAlternative>},
    {"pass/around", by<RunAround>},
    {"census", by<GetCensus>, readsIR},
    {"passes", by<GetPasses>},
    {"pass/try", by<TryPass>},

    {"native/prepare", by<PrepareNative>},
    {"facts", by<GetFacts>},
};

static Answer<Json> answer(Engine &engine, const Envelope &envelope) {
  if (envelope.error)
    return *envelope.error;
  for (const Entry &entry : requests) {
    if (entry.method != envelope.method)
      continue;
    Fields fields(envelope.params);
    if (entry.readsIR && engine.stops.isForced &&
        !survivesInFork([&] { (void)entry.answer(engine, fields); }))
      return RequestError(UnitErased,
                          "this cannot be answered in the middle of the "
                          "action: its IR is incomplete, or the tool holds a "
                          "lock; 'step' to the next action");
    return entry.answer(engine, fields);
  }
  return RequestError(NoSuchMethod,
                      "there is no method '" + envelope.method + "'");
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
