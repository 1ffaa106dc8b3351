//===- Control.cpp - Requests that resume the tool or skip actions --------===//

#include "engine/Engine.h"
#include "requests/Request.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// resume
//===----------------------------------------------------------------------===//

static void parseUntil(Fields &fields, Resumption &resumption) {
  resumption.within = fields.boolean("within", false);
  resumption.after = fields.boolean("after", false);
  resumption.own = fields.boolean("own", false);
  resumption.outcome = fields.inner<OutcomeFilter>("outcome");
  resumption.after |= resumption.outcome.has_value();
  resumption.until = Spec::parse(fields);
  fields.done();
}

struct ResumeArguments {
  Resumption resumption;
  explicit ResumeArguments(Fields &fields) {
    resumption.control =
        fields.choice<Control>("control", "control",
                               {{"continue", Control::Continue},
                                {"apply", Control::Apply},
                                {"skip", Control::Skip},
                                {"step", Control::Step},
                                {"next", Control::Next},
                                {"finish", Control::Finish}});
    resumption.count = fields.integerOr("count", 1, 1);
    resumption.event = fields.integerOr("event", 1, 0);
    resumption.keep = fields.integerOr("keep", 0, 0);
    if (const Object *until = fields.optionalObject("until")) {
      Fields inner(*until, "until.");
      parseUntil(inner, resumption);
      if (!inner.error.empty())
        fields.fail(inner.error);
    }
  }
};

/// resume: continues the tool with a control.
static Answer<NoResult> resumeTool(Engine &engine, ResumeArguments &arguments) {
  Resumption &next = arguments.resumption;
  next.fromStart = engine.stops.resumption.fromStart && !engine.innermost;
  if (next.event && next.event <= engine.position.event)
    return RequestError(InvalidParams,
                        "event " + std::to_string(next.event) +
                            " has passed: the tool is at event " +
                            std::to_string(engine.position.event));
  const Frame *frame = engine.innermost;
  if (next.control == Control::Skip && engine.stops.inside)
    return RequestError(
        ControlRefused,
        "the action is already running: skip needs a stop before an action; "
        "reverse-step goes back to the one before it");
  if (next.control == Control::Skip && frame && frame->over)
    return RequestError(
        ControlRefused,
        "the action is over: skip needs a stop before an action; "
        "use continue, step or next");
  if (next.control == Control::Finish && !(frame && frame->parent))
    return RequestError(ControlRefused,
                        "the action has no parent to finish; use next or "
                        "continue");
  engine.stops.resume(std::move(next));
  return NoResult();
}
ADBG_REQUEST("resume", resumeTool)

//===----------------------------------------------------------------------===//
// Skips and plans
//===----------------------------------------------------------------------===//

/// skips/get: the ordinals of the actions that were skipped.
static Answer<Object> getSkips(Engine &engine) {
  Array ordinals;
  for (uint64_t one : engine.skips.skipped())
    ordinals.push_back(int64_t(one));
  return Object{{"ordinals", std::move(ordinals)}};
}
ADBG_REQUEST("skips/get", getSkips)

static std::vector<uint64_t> ordinals(Fields &fields, const Array *list) {
  std::vector<uint64_t> all;
  for (size_t i = 0; list && i < list->size(); ++i) {
    int64_t ordinal = (*list)[i].getAsInteger().value_or(0);
    if (ordinal < 1)
      fields.fail("an ordinal must be an integer of at least 1");
    else
      all.push_back(ordinal);
  }
  std::ranges::sort(all);
  return all;
}

struct SetSkipsArguments {
  std::vector<uint64_t> wanted, applied;
  std::vector<SkipRule> rules;
  std::vector<Edit> edits;
  explicit SetSkipsArguments(Fields &fields)
      : wanted(ordinals(fields, fields.array("ordinals"))) {
    rules = fields.objects<SkipRule>("rules");
    applied = ordinals(fields, fields.array("applied"));
    if (fields.optional("edits"))
      edits = fields.objects<Edit>("edits");
  }
};

/// skips/set: replaces the actions to skip and the edits of this timeline;
/// returns whether the action that the tool is stopped before is skipped.
static Answer<Object> setSkips(Engine &engine, SetSkipsArguments &arguments) {
  engine.skips.set(std::move(arguments.wanted), std::move(arguments.rules),
                   std::move(arguments.applied));
  engine.editPlan.set(std::move(arguments.edits));
  std::string why = engine.stops.stoppedAt ? engine.editPlan.apply(engine) : "";
  if (engine.stops.selected)
    engine.stops.resetCursor();
  if (!why.empty())
    return RequestError(EditRefused, why);
  // Includes the action that the tool is stopped before.
  Frame *frame = engine.innermost;
  if (!engine.stops.isBeforeInnermost())
    return Object{{"skipped", nullptr}};
  frame->skipped = engine.skips.wants(*frame);
  return Object{{"skipped", frame->skipped}};
}
ADBG_REQUEST("skips/set", setSkips)

struct SetPlanArguments {
  std::string record;
  std::unique_ptr<Plan> plan;
  explicit SetPlanArguments(Fields &fields)
      : record(fields.textOr("record", "")), plan(Plan::parse(fields)) {}
};

/// plan/set: replaces the plan of a trial, which skips many actions.
static Answer<NoResult> setPlan(Engine &engine, SetPlanArguments &arguments) {
  if (engine.skips.plan)
    arguments.plan->inherit(*engine.skips.plan);
  if (std::error_code error = arguments.plan->recordTo(arguments.record))
    return notWritten(arguments.record, error);
  engine.skips.plan = std::move(arguments.plan);
  engine.skips.plan->begin(engine.innermost, engine.stops.isBeforeInnermost());
  return NoResult();
}
ADBG_REQUEST("plan/set", setPlan)

} // namespace adbg
