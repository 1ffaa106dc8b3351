//===- Control.cpp - Requests that set what the tool does next ------------===//

#include "engine/Describe.h"
#include "engine/Engine.h"
#include "requests/Request.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// resume
//===----------------------------------------------------------------------===//

Until Until::parse(Fields &fields) {
  return {.spec = Spec::parse(fields),
          .within = fields.boolean("within", false),
          .after = fields.boolean("after", false),
          .outcome = fields.inner<OutcomeFilter>("outcome"),
          .own = fields.boolean("own", false)};
}

static Resumption parseResumption(Fields &fields) {
  Resumption resumption;
  resumption.control = fields.choice<Control>("control", "control",
                                              {{"continue", Control::Continue},
                                               {"apply", Control::Apply},
                                               {"skip", Control::Skip},
                                               {"step", Control::Step},
                                               {"next", Control::Next},
                                               {"finish", Control::Finish}});
  resumption.count = fields.integerOr("count", 1, 1);
  resumption.event = fields.integerOr("event", 1, 0);
  resumption.keep = fields.integerOr("keep", 0, 0);
  resumption.until = fields.inner<Until>("until");
  return resumption;
}

/// resume: continues the tool with a control.
static Answer resumeTool(Engine &engine, Resumption next) {
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
    return RequestError(ControlRefused,
                        "the action is over: skip needs a stop before an "
                        "action; use continue, step or next");
  if (next.control == Control::Finish && !(frame && frame->parent))
    return RequestError(
        ControlRefused,
        "the action has no parent to finish; use next or continue");
  engine.stops.resume(std::move(next));
  return Object();
}
ADBG_REQUEST("resume", resumeTool, parseResumption(fields))

//===----------------------------------------------------------------------===//
// Skips and plans
//===----------------------------------------------------------------------===//

static std::vector<uint64_t> ordinals(Fields &fields, StringRef key) {
  std::vector<int64_t> all = fields.integers(key);
  std::ranges::sort(all);
  if (!all.empty() && all.front() < 1)
    fields.fail("an ordinal must be an integer of at least 1");
  return {all.begin(), all.end()};
}

/// skips/set: replaces the actions to skip and the edits of this timeline;
/// returns whether the action that the tool is stopped before is skipped.
static Answer setSkips(Engine &engine, std::vector<uint64_t> wanted,
                       std::vector<SkipRule> rules,
                       std::vector<uint64_t> applied, std::vector<Edit> edits) {
  engine.skips.set(std::move(wanted), std::move(rules), std::move(applied));
  engine.editPlan.set(std::move(edits));
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
ADBG_REQUEST("skips/set", setSkips, ordinals(fields, "ordinals"),
             fields.objects<SkipRule>("rules"), ordinals(fields, "applied"),
             fields.optional("edits") ? fields.objects<Edit>("edits")
                                      : std::vector<Edit>())

/// plan/set: replaces the plan of a trial, which skips many actions.
static Answer setPlan(Engine &engine, const std::string &record,
                      std::unique_ptr<Plan> plan) {
  if (engine.skips.plan)
    plan->inherit(*engine.skips.plan);
  if (std::error_code error = plan->recordTo(record))
    return notWritten(record, error);
  engine.skips.plan = std::move(plan);
  engine.skips.plan->begin(engine.innermost, engine.stops.isBeforeInnermost());
  if (!record.empty())
    engine.end.finishPlanFirst();
  return Object();
}
ADBG_REQUEST("plan/set", setPlan, fields.textOr("record", ""),
             Plan::parse(fields))

//===----------------------------------------------------------------------===//
// Breakpoints and logs
//===----------------------------------------------------------------------===//

/// breakpoints/set: replaces all breakpoints, watches and catches. One that
/// existed before, by its id, keeps its counts.
static Answer setBreakpoints(Engine &engine,
                             std::vector<Breakpoint> breakpoints) {
  engine.breakpoints.set(std::move(breakpoints));
  return Object();
}
ADBG_REQUEST("breakpoints/set", setBreakpoints,
             fields.objects<Breakpoint>("breakpoints"))

/// breakpoints/hits: how often each breakpoint was hit.
static Answer getHits(Engine &engine) {
  return Object{{"hits", engine.breakpoints.describe()}};
}
ADBG_REQUEST("breakpoints/hits", getHits)

/// log/open: opens the file for breakpoints that log instead of stopping.
static Answer openLog(Engine &engine, const std::string &path,
                      bool neighbourhoods) {
  engine.stops.logsNeighbourhoods = neighbourhoods;
  if (std::error_code error = engine.stops.hitLog.open(path))
    return notWritten(path, error);
  return Object();
}
ADBG_REQUEST("log/open", openLog, fields.text("path"),
             fields.boolean("neighbourhoods", false))

/// log/close: closes that file, and reports whether all was written.
static Answer closeLog(Engine &engine) {
  if (!engine.stops.hitLog.isOpen())
    return RequestError(NoAnswer, "no log is open");
  if (!engine.stops.hitLog.close())
    return RequestError(FileNotWritten, "writing the log failed");
  return Object();
}
ADBG_REQUEST("log/close", closeLog)

//===----------------------------------------------------------------------===//
// The log of dialect conversions
//===----------------------------------------------------------------------===//

static WantedOperations wantedOperations(Fields &fields) {
  return {fields.integers("ids"), Glob::parse(fields, "glob"),
          fields.integerOr("most", 1, 1000)};
}

/// legalizations/open: writes what failed conversions tried into a file.
static Answer openLegalizations(Engine &engine, const std::string &path,
                                bool reasons, WantedOperations wanted) {
  if (std::error_code error =
          engine.legalizations.open(path, std::move(wanted), reasons))
    return notWritten(path, error);
  return Object();
}
ADBG_REQUEST("legalizations/open", openLegalizations, fields.text("path"),
             fields.boolean("reasons", false), wantedOperations(fields))

static Answer closeLegalizations(Engine &engine) {
  if (!engine.legalizations.file.isOpen())
    return RequestError(NoAnswer, "no legalizations are written");
  if (!engine.legalizations.close())
    return RequestError(FileNotWritten, "writing the legalizations failed");
  return Object();
}
ADBG_REQUEST("legalizations/close", closeLegalizations)

} // namespace adbg
