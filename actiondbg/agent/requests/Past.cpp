//===- Past.cpp - Requests about what was done, and to do it again
//----------===//

#include "engine/Describe.h"
#include "requests/Requests.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using llvm::StringRef;
using llvm::json::Object;
using Json = llvm::json::Value;

namespace adbg {

//===----------------------------------------------------------------------===//
// What was done
//===----------------------------------------------------------------------===//

Reply getChanges(Engine &engine, Fields &fields) {
  bool nested = fields.boolean("nested", true);
  int64_t most = fields.integerOr("count", 0, 1000);
  if (!fields.done())
    return wrongParams(fields);
  const Frame *frame = engine.selected;
  if (!frame)
    return Reply(NotStopped, "no action has been dispatched yet");
  uint64_t total = 0;
  llvm::json::Array changes = describeChanges(*frame, nested, most, total);
  Object counts;
  for (unsigned kind = 0; kind < changeKinds; ++kind)
    if (uint32_t count = frame->tally.counts[kind])
      counts[textOf(static_cast<ChangeKind>(kind))] = int64_t(count);
  uint64_t begin = engine.observer.log.begin();
  int64_t forgotten =
      begin > frame->tally.first ? begin - frame->tally.first : 0;
  return Object{{"changes", std::move(changes)},
                {"total", int64_t(total)},
                {"counts", std::move(counts)},
                {"forgotten", forgotten}};
}

Reply getStatistics(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  llvm::json::Array rows;
  for (const auto &entry : engine.observer.statistics.all()) {
    const Statistic &one = entry.second;
    rows.push_back(
        Object{{"tag", llvm::json::fixUTF8(one.tag)},
               {"name", llvm::json::fixUTF8(one.name)},
               {"attempts", int64_t(one.succeeded + one.failed + one.skipped)},
               {"succeeded", int64_t(one.succeeded)},
               {"unchanged", int64_t(one.unchanged)},
               {"failed", int64_t(one.failed)},
               {"skipped", int64_t(one.skipped)},
               {"changes", int64_t(one.changes)},
               {"seconds", engine.observer.secondsOf(one.ticks)}});
  }
  return Object{{"rows", std::move(rows)},
                {"uncounted", int64_t(engine.observer.uncounted)}};
}

Reply countOperations(Engine &engine, Fields &fields) {
  std::string text = fields.text("glob");
  bool isFunction = fields.boolean("function", false);
  std::string error;
  std::optional<Glob> glob = Glob::create(text, error);
  if (!glob)
    fields.fail(error);
  if (!fields.done())
    return wrongParams(fields);
  Operation *op = holderOf(engine.cursor);
  for (Frame *f = engine.innermost; f && !op; f = f->parent)
    op = f->op();
  if (!op)
    return Reply(NotStopped, "there is no IR to count operations in yet");
  Operation *function = isFunction ? functionAround(op) : nullptr;
  int64_t count = 0;
  (function ? function : rootOf(op))->walk([&](Operation *inner) {
    count += glob->matches(inner->getName().getStringRef());
  });
  return Object{{"count", count}};
}

Reply getPipeline(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  Frame *frame = engine.selected;
  while (frame && (frame->kind != Kind::Pass || frame->isAdaptor()))
    frame = frame->parent;
  Operation *op = frame ? frame->op() : nullptr;
  if (!op)
    return Reply(NoSuchUnit, "the action is in no pass");
  std::string text;
  llvm::raw_string_ostream os(text);
  const_cast<Pass *>(frame->pass())->printAsTextualPipeline(os);
  for (; op; op = op->getParentOp())
    text = op->getName().getStringRef().str() + "(" + text + ")";
  return Object{{"text", llvm::json::fixUTF8(text)}};
}

//===----------------------------------------------------------------------===//
// To do it again
//===----------------------------------------------------------------------===//

static void setCheckpoints(Engine &engine, Fields &fields) {
  const Object *object = fields.optionalObject("checkpoints");
  if (!object)
    return;
  Fields inner(*object, "checkpoints.");
  std::string socket = inner.text("socket");
  int64_t milliseconds = inner.integer("milliseconds", 0);
  int64_t megabytes = inner.integer("megabytes", 0);
  if (inner.done())
    engine.checkpoints.configure(socket, milliseconds, megabytes);
  else
    fields.fail(inner.error);
}

Reply setOptions(Engine &engine, Fields &fields) {
  bool verifies = fields.boolean("verifyEachAction", engine.verifiesEach);
  bool counts = fields.boolean("count", engine.counts);
  setCheckpoints(engine, fields);
  if (!fields.done())
    return wrongParams(fields);
  engine.counts = counts;
  engine.verifiesEach = verifies;
  return Object{};
}

Reply getSkips(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  llvm::json::Array ordinals;
  for (uint64_t one : engine.skipped)
    ordinals.push_back(int64_t(one));
  return Object{{"ordinals", std::move(ordinals)}};
}

Reply setSkips(Engine &engine, Fields &fields) {
  std::vector<uint64_t> skips;
  if (const llvm::json::Array *list = fields.array("ordinals"))
    for (const Json &one : *list) {
      if (!one.getAsInteger() || *one.getAsInteger() < 1)
        fields.fail("an ordinal is an integer from 1");
      else
        skips.push_back(*one.getAsInteger());
    }
  if (!fields.done())
    return wrongParams(fields);
  llvm::sort(skips);
  engine.toSkip = std::move(skips);
  // The one that it stands before, too.
  Frame *frame = engine.innermost;
  if (engine.standing == frame && frame && !frame->over && !engine.inside)
    frame->skipped = llvm::binary_search(engine.toSkip, frame->ordinal);
  return Object{};
}

Reply openLog(Engine &engine, Fields &fields) {
  std::string path = fields.text("path");
  if (!fields.done())
    return wrongParams(fields);
  std::error_code error;
  auto log = std::make_unique<llvm::raw_fd_ostream>(path, error);
  if (error)
    return Reply(FileNotWritten,
                 "cannot write " + path + ": " + error.message());
  engine.log = std::move(log);
  return Object{};
}

Reply closeLog(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  if (!engine.log)
    return Reply(NoAnswer, "there is no log");
  engine.log->flush();
  bool isWritten = !engine.log->has_error();
  engine.log->clear_error();
  engine.log.reset();
  if (!isWritten)
    return Reply(FileNotWritten, "the log could not be written");
  return Object{};
}

} // namespace adbg
