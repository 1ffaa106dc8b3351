//===- Requests.cpp - What the front end can ask at a stop
//------------------===//

#include "requests/Requests.h"
#include "engine/Describe.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::StringRef;
using llvm::json::Object;
using Json = llvm::json::Value;

namespace adbg {

Reply wrongParams(const Fields &fields) {
  return Reply(InvalidParams, fields.error);
}

//===----------------------------------------------------------------------===//
// Breakpoints
//===----------------------------------------------------------------------===//

static Reply setBreakpoints(Engine &engine, Fields &fields) {
  std::vector<Breakpoint> all;
  const llvm::json::Array *list = fields.array("breakpoints");
  for (size_t i = 0; list && i < list->size(); ++i) {
    std::string where = "breakpoints[" + std::to_string(i) + "]";
    const Object *object = (*list)[i].getAsObject();
    if (!object)
      return Reply(InvalidParams, "the field '" + where + "' is not an object");
    Fields inner(*object, where + ".");
    std::optional<Breakpoint> one = Breakpoint::parse(inner);
    if (!one)
      return wrongParams(inner);
    // A breakpoint that was there before keeps what it has counted.
    for (Breakpoint &old : engine.breakpoints)
      if (old.id == one->id)
        one->inherit(old);
    all.push_back(std::move(*one));
  }
  if (!fields.done())
    return wrongParams(fields);
  engine.breakpoints = std::move(all);
  engine.breakpointsChanged();
  return Object{};
}

static Reply getHits(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  return Object{{"hits", describeHits(engine.breakpoints)}};
}

//===----------------------------------------------------------------------===//
// Going on
//===----------------------------------------------------------------------===//

static std::optional<Control> controlOf(StringRef name) {
  return llvm::StringSwitch<std::optional<Control>>(name)
      .Case("continue", Control::Continue)
      .Case("apply", Control::Apply)
      .Case("skip", Control::Skip)
      .Case("step", Control::Step)
      .Case("next", Control::Next)
      .Case("finish", Control::Finish)
      .Default(std::nullopt);
}

static Reply resume(Engine &engine, Fields &fields) {
  std::string name = fields.text("control");
  Resumption next;
  next.fromStart = engine.resumption.fromStart && !engine.innermost;
  next.count = fields.integerOr("count", 1, 1);
  next.event = fields.integerOr("event", 1, 0);
  next.keep = fields.integerOr("keep", 0, 0);
  std::optional<Control> control = controlOf(name);
  if (!control)
    fields.fail("there is no control '" + name + "'");
  if (const Object *until = fields.optionalObject("until")) {
    Fields inner(*until, "until.");
    next.within = inner.boolean("within", false);
    next.after = inner.boolean("after", false);
    next.own = inner.boolean("own", false);
    if (const Object *outcome = inner.optionalObject("outcome")) {
      Fields innermost(*outcome, "until.outcome.");
      next.outcome = OutcomeFilter::parse(innermost);
      if (!next.outcome)
        return wrongParams(innermost);
      next.after = true;
    }
    next.until = Spec::parse(inner);
    if (!next.until || !inner.done())
      return wrongParams(inner);
  }
  if (next.event && next.event <= engine.event)
    fields.fail("the event " + llvm::Twine(next.event) +
                " is over: the newest is " + llvm::Twine(engine.event));
  if (!fields.done())
    return wrongParams(fields);
  next.control = *control;
  const Frame *frame = engine.innermost;
  if (*control == Control::Skip && engine.inside)
    return Reply(ControlRefused,
                 "the action is in the middle of its work: skip is for a stop "
                 "before an action; continue, step or next go on from here");
  if (*control == Control::Skip && frame && frame->over)
    return Reply(ControlRefused,
                 "the action is over: skip is for a stop before an action; "
                 "continue, step or next go on from here");
  if (*control == Control::Finish && !(frame && frame->parent))
    return Reply(ControlRefused,
                 "there is no action around this one to finish; next and "
                 "continue go on from here");
  engine.go(std::move(next));
  return Object{};
}

//===----------------------------------------------------------------------===//
// The stack, and what is known
//===----------------------------------------------------------------------===//

static Reply backtrace(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  llvm::json::Array frames;
  int64_t index = 0;
  for (const Frame *frame = engine.innermost; frame; frame = frame->parent)
    frames.push_back(describeFrame(*frame, index++));
  return Object{{"frames", std::move(frames)}};
}

static int64_t indexOf(const Engine &engine, const Frame *wanted) {
  int64_t index = 0;
  for (const Frame *f = engine.innermost; f && f != wanted; f = f->parent)
    ++index;
  return index;
}

static Reply noAction() {
  return Reply(NotStopped, "no action has been dispatched yet");
}

static Reply selectFrame(Engine &engine, Fields &fields) {
  int64_t index = fields.integer("index", 0);
  if (!fields.done())
    return wrongParams(fields);
  Frame *frame = engine.frameAt(index);
  if (!frame)
    return Reply(NoSuchUnit,
                 "there is no frame " + llvm::Twine(index) + ": there are " +
                     llvm::Twine(indexOf(engine, nullptr)) + ", from 0");
  engine.selected = frame;
  engine.resetCursor();
  return describeFrame(*frame, index);
}

static Reply getAction(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  if (!engine.selected)
    return noAction();
  return describeAction(*engine.selected, indexOf(engine, engine.selected));
}

static void addOperationNames(Engine &engine, std::set<std::string> &names) {
  Operation *op = engine.selected ? engine.selected->op() : nullptr;
  if (!op)
    return;
  for (RegisteredOperationName name :
       op->getContext()->getRegisteredOperations())
    names.insert(name.getStringRef().str());
}

static Reply getNames(Engine &engine, Fields &fields) {
  std::string kind = fields.text("kind");
  std::set<std::string> names;
  if (kind == "tag") {
    for (StringRef name : engine.tags.keys())
      names.insert(name.str());
    for (StringRef name : {"apply-pattern", "fold", "pass-execution"})
      names.insert(name.str());
  } else if (kind == "pattern") {
    for (StringRef name : engine.patternNames.keys())
      names.insert(name.str());
  } else if (kind == "pass") {
    for (StringRef name : engine.passNames.keys())
      names.insert(name.str());
  } else if (kind == "op") {
    addOperationNames(engine, names);
  } else {
    fields.fail("there is no kind of name '" + kind + "'");
  }
  if (!fields.done())
    return wrongParams(fields);
  llvm::json::Array list;
  for (const std::string &name : names)
    list.push_back(llvm::json::fixUTF8(name));
  return Object{{"names", std::move(list)}};
}

static Reply getStatus(Engine &engine, Fields &fields) {
  if (!fields.done())
    return wrongParams(fields);
  size_t tracked = engine.breakpoints.size() * sizeof(Breakpoint) +
                   engine.observer.ids.bytes();
  for (const auto *names : {&engine.patternNames, &engine.passNames})
    for (StringRef name : names->keys())
      tracked += name.size() + 2 * sizeof(void *);
  return Object{{"ordinal", int64_t(engine.ordinal)},
                {"event", int64_t(engine.event)},
                {"written", describeWritten()},
                {"passed", engine.describePassed()},
                {"contexts", int64_t(engine.contexts)},
                {"threading", engine.askedForThreads},
                {"tracked", int64_t(tracked)}};
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

static RequestHandler handlerOf(StringRef method) {
  return llvm::StringSwitch<RequestHandler>(method)
      .Case("breakpoints/set", setBreakpoints)
      .Case("breakpoints/hits", getHits)
      .Case("resume", resume)
      .Case("backtrace", backtrace)
      .Case("frame/select", selectFrame)
      .Case("action", getAction)
      .Case("context", getContext)
      .Case("cursor/get", getCursor)
      .Case("cursor/move", moveCursor)
      .Case("cursor/links", getLinks)
      .Case("print", print)
      .Case("names", getNames)
      .Case("changes", getChanges)
      .Case("statistics", getStatistics)
      .Case("count", countOperations)
      .Case("pipeline", getPipeline)
      .Case("options/set", setOptions)
      .Case("skips/get", getSkips)
      .Case("skips/set", setSkips)
      .Case("plan/set", setPlan)
      .Case("settle", settle)
      .Case("log/open", openLog)
      .Case("log/close", closeLog)
      .Case("status", getStatus)
      .Default(nullptr);
}

static Json response(Json id, Reply reply) {
  Object object{{"jsonrpc", "2.0"}, {"id", std::move(id)}};
  if (reply.code)
    object["error"] =
        Object{{"code", reply.code}, {"message", std::move(reply.message)}};
  else
    object["result"] = std::move(reply.result);
  return object;
}

namespace {
/// The envelope of a line from the front end.
struct Envelope {
  Json id = nullptr;
  std::string method;
  Object params;
  std::optional<Reply> wrong;
};
} // namespace

static Envelope open(StringRef line) {
  Envelope envelope;
  llvm::Expected<Json> parsed = llvm::json::parse(line);
  if (!parsed) {
    envelope.wrong = Reply(ParseError, "the line is not JSON: " +
                                           llvm::toString(parsed.takeError()));
    return envelope;
  }
  Object *object = parsed->getAsObject();
  std::optional<StringRef> method;
  if (object)
    method = object->getString("method");
  if (!method || object->getString("jsonrpc") != StringRef("2.0")) {
    envelope.wrong =
        Reply(InvalidRequest, "the line is not a request of JSON-RPC 2.0");
    return envelope;
  }
  envelope.method = method->str();
  if (const Json *id = object->get("id"))
    envelope.id = *id;
  if (Json *params = object->get("params")) {
    if (Object *fields = params->getAsObject())
      envelope.params = std::move(*fields);
    else
      envelope.wrong = Reply(InvalidParams, "'params' is not an object");
  }
  return envelope;
}

bool isInterrupt(StringRef line) { return open(line).method == "interrupt"; }

std::optional<Json> refusal(StringRef line) {
  Envelope envelope = open(line);
  if (envelope.wrong)
    return response(envelope.id, *envelope.wrong);
  return response(envelope.id,
                  Reply(NotStopped, "the tool is running: '" + envelope.method +
                                        "' needs a stop"));
}

std::optional<Json> answer(Engine &engine, StringRef line, bool &resumed) {
  Envelope envelope = open(line);
  if (envelope.wrong)
    return response(envelope.id, *envelope.wrong);
  // An interrupt that crossed with a stop has done its work.
  if (envelope.method == "interrupt")
    return std::nullopt;
  Fields fields(envelope.params);
  if (envelope.method == "fork") {
    std::optional<Reply> reply = forkTool(engine, fields);
    if (!reply)
      return std::nullopt;
    return response(envelope.id, std::move(*reply));
  }
  RequestHandler handler = handlerOf(envelope.method);
  if (!handler)
    return response(
        envelope.id,
        Reply(NoSuchMethod, "there is no method '" + envelope.method + "'"));
  Reply reply = handler(engine, fields);
  resumed = envelope.method == "resume" && !reply.code;
  return response(envelope.id, std::move(reply));
}

} // namespace adbg
