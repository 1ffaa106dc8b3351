//===- Stack.cpp - Requests about the stack of actions --------------------===//

#include "requests/Stack.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "requests/InFork.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using llvm::json::Object;

namespace adbg {

static RequestError noAction() {
  return RequestError(NotStopped, "no action has been dispatched yet");
}

static int64_t indexOf(const Engine &engine, const Frame *wanted) {
  int64_t index = 0;
  for (const Frame *f = engine.innermost; f && f != wanted; f = f->parent)
    ++index;
  return index;
}

Answer<Object> GetBacktrace::run(NoArguments &) {
  return answerInFork([this] {
    llvm::json::Array frames;
    int64_t index = 0;
    for (const Frame *frame = engine.innermost; frame; frame = frame->parent)
      frames.push_back(describeFrame(*frame, index++));
    return Object{{"frames", std::move(frames)}};
  });
}

Answer<Object> SelectFrame::run(SelectFrameArguments &arguments) {
  Frame *frame = engine.stops.frameAt(arguments.index);
  if (!frame)
    return RequestError(NoSuchUnit,
                        "there is no frame " + llvm::Twine(arguments.index) +
                            ": there are " +
                            llvm::Twine(indexOf(engine, nullptr)) + ", from 0");
  engine.stops.select(frame);
  return answerInFork([&] { return describeFrame(*frame, arguments.index); });
}

Answer<Object> GetAction::run(NoArguments &) {
  if (!engine.stops.selected)
    return noAction();
  int64_t index = indexOf(engine, engine.stops.selected);
  // A stop is inside the actions around the innermost one.
  bool inside = engine.stops.inside || index > 0;
  return answerInFork(
      [&] { return describeAction(*engine.stops.selected, index, inside); });
}

Answer<Object> GetContext::run(NoArguments &) {
  if (!engine.stops.selected)
    return noAction();
  return answerInFork([this] {
    return Object{{"units", describeUnits(*engine.stops.selected)}};
  });
}

/// Sets `counts` to the changes of the running action of a frame.
static void countChanges(const Engine &engine, const Frame &frame, bool nested,
                         uint64_t (&counts)[changeKinds]) {
  if (frame.kind == Kind::None)
    return;
  const ChangeLog &log = engine.observer.log;
  if (!nested) {
    for (uint64_t i = std::max(frame.tally.first, log.begin()); i < log.end();
         ++i)
      if (log[i].ordinal == frame.ordinal)
        ++counts[unsigned(log[i].kind)];
    return;
  }
  // The changes of a nested action are added to its parent's when it ends.
  for (const Frame *f = engine.innermost; f; f = f->parent) {
    for (unsigned kind = 0; kind < changeKinds; ++kind)
      counts[kind] += f->tally.counts[kind];
    if (f == &frame)
      return;
  }
}

Answer<Object> GetChanges::run(GetChangesArguments &arguments) {
  const Frame *frame = engine.stops.selected;
  if (!frame)
    return noAction();
  uint64_t counted[changeKinds] = {};
  countChanges(engine, *frame, arguments.nested, counted);
  uint64_t total = 0;
  Object counts;
  for (unsigned kind = 0; kind < changeKinds; ++kind) {
    total += counted[kind];
    if (counted[kind])
      counts[textOf(static_cast<ChangeKind>(kind))] = int64_t(counted[kind]);
  }
  llvm::json::Array changes = describeChanges(
      *frame, engine.observer.log, arguments.nested, arguments.count);
  uint64_t begin = engine.observer.log.begin();
  int64_t forgotten =
      begin > frame->tally.first ? begin - frame->tally.first : 0;
  return Object{{"changes", std::move(changes)},
                {"total", int64_t(total)},
                {"counts", std::move(counts)},
                {"forgotten", forgotten},
                {"undated", 0}};
}

/// Removes the blanks that MLIR writes for options without a value.
static std::string withoutEmptyOptions(StringRef text) {
  std::string result;
  char quote = 0;
  for (char c : text) {
    char last = result.empty() ? 0 : result.back();
    if (!quote && c == ' ' && (last == ' ' || last == '{'))
      continue;
    if (quote ? c == quote : c == '"' || c == '\'')
      quote = quote ? 0 : c;
    result += c;
  }
  return result;
}

Answer<Object> GetPipeline::run(NoArguments &) {
  Frame *frame = engine.stops.selected;
  while (frame && (frame->kind != Kind::Pass || frame->isAdaptor()))
    frame = frame->parent;
  Operation *op = frame ? frame->op() : nullptr;
  if (!op)
    return RequestError(NoSuchUnit, "the action is not inside a pass");
  std::string text;
  llvm::raw_string_ostream os(text);
  const_cast<Pass *>(frame->pass())->printAsTextualPipeline(os);
  text = withoutEmptyOptions(text);
  for (; op; op = op->getParentOp())
    text = (op->getName().getStringRef() + "(" + llvm::Twine(text) + ")").str();
  return Object{{"text", llvm::json::fixUTF8(text)}};
}

} // namespace adbg
