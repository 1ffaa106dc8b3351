#include "match/Plan.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "support/Pipelines.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static std::string baseOf(StringRef tag, StringRef name, StringRef location,
                          StringRef function) {
  std::string base;
  for (StringRef part : {tag, name, location, function})
    base += part.str() + '\0';
  return base;
}

Plan::Keys Plan::parseKeys(Fields &fields, StringRef key) {
  if (!fields.optional(key))
    return std::nullopt;
  TextSet keys;
  fields.eachObject(key, [&](Fields &inner) {
    std::string tag = inner.text("tag"), name = inner.text("name");
    Key one{baseOf(tag, name, inner.textOr("location", ""),
                   inner.textOr("function", "")),
            unsigned(inner.integer("nth", 1))};
    inner.done();
    keys.insert(one.text());
  });
  return keys;
}

std::unique_ptr<Plan> Plan::parse(Fields &fields) {
  auto plan = std::make_unique<Plan>();
  if (fields.optional("limit"))
    plan->limit = fields.integer("limit", 0);
  plan->only = fields.integerOr("only", 0, 0);
  plan->applied = parseKeys(fields, "apply");
  plan->skipped = parseKeys(fields, "skip");
  plan->specs = fields.objects<Spec>("specs");
  for (const std::string &text : fields.texts("always"))
    if (std::optional<Glob> glob = Glob::create(text, fields))
      plan->always.push_back(std::move(*glob));
  for (const std::string &name : fields.texts("passes"))
    plan->passes.insert(name);
  for (const std::string &name : fields.texts("held"))
    plan->held.insert(name);
  plan->hasKeys =
      fields.boolean("keys", false) || plan->applied || plan->skipped;
  plan->isPlain = !plan->hasKeys && !plan->only && plan->specs.empty() &&
                  plan->always.empty();
  return plan;
}

void Plan::inherit(const Plan &old) {
  places = old.places;
  keys = old.keys;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

static bool isLeaf(const Frame &frame) {
  return frame.kind == Kind::Pattern || frame.kind == Kind::Fold ||
         frame.kind == Kind::Step;
}

/// Whether it is a conversion that an operation of a schedule runs: that
/// operation is a candidate, what it converts is none.
static bool isConversionOfStep(const Frame &frame) {
  if (!frame.isConversion())
    return false;
  const Frame *around = frame.parent;
  while (around && around->kind != Kind::Step && around->kind != Kind::Pass)
    around = around->parent;
  return around && around->kind == Kind::Step;
}

bool Plan::isAlways(const Frame &frame) {
  if (always.empty())
    return false;
  StringRef name = frame.shortName(), unnamed = frame.unnamed();
  for (const Glob &one : always)
    if (one.matchesNow(name) || one.matchesNow(lastComponent(name)) ||
        (!unnamed.empty() && one.matchesNow(unnamed)))
      return true;
  return false;
}

bool Plan::isSelected(const Frame &frame) {
  if (frame.isExempt || isAlways(frame))
    return false;
  return specs.empty() || std::ranges::any_of(specs, [&](Spec &spec) {
           return spec.matches(frame);
         });
}

Plan::Key Plan::keyOf(const Frame &frame) {
  Operation *op = frame.op();
  std::optional<std::string> location;
  if (op)
    location = placeText(op->getLoc());
  Key key{baseOf(frame.tag(), frame.shortName(), location.value_or(""),
                 frame.function()),
          0};
  Place &place = places[key.base];
  // A pass is counted by its runs in the pipeline, an operation of a schedule
  // by its interpretations.
  if (!op || frame.kind == Kind::Pass || frame.kind == Kind::Step) {
    key.nth = ++place.count;
    return key;
  }
  unsigned &nth = place.byOperation[ids.of(op)];
  if (!nth)
    nth = ++place.count;
  key.nth = nth;
  return key;
}

/// Whether this is the action to skip alone, or a retry of it: the driver
/// retries a skipped rewrite until nothing changes.
bool Plan::isRepeated(const Frame &frame) {
  Operation *op = frame.op();
  uint32_t id = op ? ids.of(op) : 0;
  if (frame.ordinal == only) {
    onlyKind = frame.kind;
    onlyName = frame.shortName().str();
    onlyOperation = id;
    return true;
  }
  return (onlyKind == Kind::Pattern || onlyKind == Kind::Fold) &&
         frame.kind == onlyKind && id && id == onlyOperation &&
         frame.shortName() == onlyName;
}

/// Counts an attempt or a conversion for the pass around it.
static void countForPass(Frame *pass, const Frame &frame) {
  while (pass && (pass->kind != Kind::Pass || pass->isAdaptor()))
    pass = pass->parent;
  if (!pass)
    return;
  pass->leaves += isLeaf(frame);
  pass->hasConversion |= frame.isConversion() && !isConversionOfStep(frame);
}

bool Plan::skips(Frame &frame) {
  if (isLeaf(frame) || frame.isConversion())
    countForPass(frame.parent, frame);
  return frame.isPlanned = decide(frame);
}

void Plan::classify(Frame &frame) {
  frame.isHeld =
      (frame.parent && frame.parent->isHeld) || isConversionOfStep(frame);
  bool isPass = frame.isRealPass();
  frame.isExempt = frame.parent && frame.parent->isExempt;
  frame.isSelected =
      (isPass || (isLeaf(frame) && !frame.isHeld)) && isSelected(frame);
  frame.isCandidate = frame.isSelected && !frame.isHeld &&
                      (!isPass || passes.contains(frame.name()));
  frame.isExempt |= isPass && isAlways(frame);
  frame.isHeld |= frame.isExempt || (isPass && held.contains(frame.name()));
}

bool Plan::decide(Frame &frame) {
  bool isPass = frame.isRealPass();
  if (hasKeys && !knownKey(frame) && (isLeaf(frame) || isPass))
    keys.emplace_back(frame.ordinal, keyOf(frame));
  classify(frame);
  if (only && isRepeated(frame))
    return true;
  if (!frame.isCandidate)
    return false;
  if (limit && frame.ordinal > *limit)
    return true;
  // An operation of a schedule may only look others up for the next ones.
  if (applied && frame.kind != Kind::Step &&
      !applied->contains(keys.back().second.text()))
    return true;
  return skipped && skipped->contains(keys.back().second.text());
}

void Plan::begin(Frame *innermost, bool isBefore) {
  std::vector<Frame *> frames;
  for (Frame *frame = innermost; frame; frame = frame->parent)
    frames.push_back(frame);
  std::ranges::reverse(frames);
  for (Frame *frame : frames) {
    if (frame == innermost && isBefore) {
      bool wasPlanned = std::exchange(frame->isPlanned, decide(*frame));
      frame->skipped = frame->isPlanned || (frame->skipped && !wasPlanned);
      continue;
    }
    classify(*frame);
  }
}

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

std::error_code Plan::recordTo(const std::string &path) {
  std::error_code error;
  if (!path.empty()) {
    record = std::make_unique<raw_fd_ostream>(path, error);
    isPlain = false;
  }
  return error;
}

void Plan::write(const Frame &frame, uint64_t newest) {
  Object line{{"ordinal", int64_t(frame.ordinal)}};
  bool isPass = frame.kind == Kind::Pass;
  if (hasKeys || isPass) {
    const Key *key = knownKey(frame);
    std::vector<StringRef> parts;
    if (key)
      StringRef(key->base).split(parts, '\0');
    auto part = [&](unsigned i) {
      return parts.size() > i && !parts[i].empty() ? Json(parts[i]) : nullptr;
    };
    addOperation(line, frame);
    line["tag"] = frame.tag();
    line["name"] = frame.shortName();
    line["location"] = part(2);
    line["function"] = part(3);
    line["nth"] = key ? Json(int64_t(key->nth)) : nullptr;
  }
  if (isPass) {
    line["pass"] = frame.name();
    line["last"] = int64_t(newest);
    line["leaves"] = int64_t(frame.leaves);
    line["conversion"] = frame.hasConversion;
    line["over"] = frame.over;
    line["failed"] = frame.returned == Returned::Failure;
    line["changed"] = frame.over && frame.changed();
    line["selected"] = frame.isSelected;
  }
  *record << Json(std::move(line)) << "\n";
}

void Plan::over(const Frame &frame, uint64_t newest) {
  bool isPass = frame.isRealPass();
  auto hasEffect = [&] {
    return frame.kind == Kind::Fold ? frame.returned == Returned::Success
                                    : frame.changed();
  };
  if (record && (isPass || (frame.isCandidate && isLeaf(frame) &&
                            !frame.skipped && hasEffect())))
    write(frame, newest);
  if (knownKey(frame))
    keys.pop_back();
}

void Plan::finish(const Frame *innermost, uint64_t newest) {
  if (!record)
    return;
  for (const Frame *frame = innermost; frame; frame = frame->parent) {
    if (frame->isRealPass())
      write(*frame, newest);
    // The action in which the tool crashes is a candidate too.
    if (frame->isCandidate && isLeaf(*frame) && !frame->over)
      write(*frame, newest);
    if (knownKey(*frame))
      keys.pop_back();
  }
  record->flush();
  record->clear_error();
}

//===----------------------------------------------------------------------===//
// The actions to skip
//===----------------------------------------------------------------------===//

SkipRule SkipRule::parse(Fields &fields) {
  SkipRule rule;
  rule.first = fields.integer("first", 1);
  if (int64_t last = fields.integerOr("last", 1, 0))
    rule.last = last;
  rule.spec = Spec::parse(fields);
  return rule;
}

bool Skips::setRules(StringRef json) {
  std::optional<Json> list = llvm::json::parse(json);
  if (!list)
    return false;
  Object object{{"rules", std::move(*list)}};
  Fields fields(object);
  std::vector<SkipRule> read = fields.objects<SkipRule>("rules");
  if (!fields.error.empty())
    return false;
  rules = std::move(read);
  return true;
}

bool Skips::wants(const Frame &frame) {
  if (std::ranges::binary_search(wanted, frame.ordinal))
    return true;
  return !std::ranges::binary_search(exempt, frame.ordinal) &&
         std::ranges::any_of(
             rules, [&](SkipRule &rule) { return rule.matches(frame); });
}

void Skips::count(const Frame &frame) {
  bool isFirst = !std::ranges::binary_search(wanted, frame.ordinal);
  for (SkipRule &rule : rules)
    if (rule.matches(frame)) {
      ++rule.matched;
      rule.skipped += std::exchange(isFirst, false);
    }
}

//===----------------------------------------------------------------------===//
// Alternatives
//===----------------------------------------------------------------------===//

// The value above it means that a pattern cannot match.
static constexpr unsigned short highestBenefit = 0xfffe;

BenefitChange BenefitChange::parse(Fields &fields) {
  BenefitChange change;
  if (auto pattern = Glob::create(fields.text("pattern"), fields))
    change.pattern = std::move(*pattern);
  int64_t benefit = fields.integerOr("benefit", 0, -1);
  change.isFirst = benefit < 0;
  if (benefit > highestBenefit)
    fields.fail("a benefit is at most " + std::to_string(highestBenefit));
  change.benefit =
      change.isFirst ? highestBenefit : static_cast<unsigned short>(benefit);
  return change;
}

BenefitChange *Alternative::find(const Pattern &pattern) {
  for (BenefitChange &one : benefits)
    if (one.pattern.matchesName(nameOf(pattern))) {
      one.isUsed = true;
      return &one;
    }
  return nullptr;
}

void Alternative::setBenefit(const Pattern &pattern) {
  const BenefitChange *change = find(pattern);
  if (change && !pattern.getBenefit().isImpossibleToMatch())
    const_cast<PatternBenefit &>(pattern.benefit) =
        PatternBenefit(change->benefit);
}

PatternBenefit Alternative::benefitOf(const Pattern &pattern,
                                      PatternBenefit computed,
                                      bool inConversion) {
  const BenefitChange *change = find(pattern);
  if (!change || computed.isImpossibleToMatch())
    return computed;
  setBenefit(pattern);
  // The cost model of a conversion computes ranks, not benefits.
  if (inConversion && !change->isFirst)
    return computed;
  return PatternBenefit(change->benefit);
}

LogicalResult Alternative::runOwn(Operation *op, StringRef pipeline) {
  isOwn = true;
  PipelineError error = runPipeline(op, pipeline, /*forwards=*/true);
  isOwn = false;
  if (!error)
    return success();
  hasFailed = true;
  return emitError(op->getLoc(), "the pipeline '")
         << pipeline << "' of the alternative failed: " << *error;
}

LogicalResult Alternative::append(Operation *root) {
  for (const std::string &pipeline : pipelines)
    if (hasFailed || failed(runOwn(root, pipeline)))
      return failure();
  return success(!hasFailed);
}

void Alternative::runAround(Engine &engine, Frame &frame,
                            ArrayRef<std::string> pipelines, Frame *around) {
  if (pipelines.empty())
    return;
  Frame *inner = std::exchange(engine.innermost, around);
  for (const std::string &pipeline : pipelines)
    if (!hasFailed)
      (void)runOwn(frame.op(), pipeline);
  engine.innermost = inner;
  // The tool's pass manager does not know of their changes.
  if (frame.pass()->passState) {
    AnalysisManager analyses = frame.pass()->passState->analysisManager;
    analyses.invalidateAll();
  }
}

void Alternative::run(Engine &engine, Frame &frame, function_ref<void()> run) {
  // Pipelines before and after a pass are no part of it.
  runAround(engine, frame, frame.rare().before, frame.parent);
  runAround(engine, frame, frame.rare().instead, &frame);
  bool isLeftOut = hasFailed && frame.kind == Kind::Pass && !isOwn;
  if (!frame.skipped && !isLeftOut)
    run();
  runAround(engine, frame, frame.rare().after, frame.parent);
}

void countOperations(Operation *root, TextMap<int64_t> &counts) {
  std::unordered_map<const void *, int64_t> byKey;
  root->walk(
      [&](Operation *op) { ++byKey[op->getName().getAsOpaquePointer()]; });
  // They are sorted by their names then.
  // NOLINTNEXTLINE(bugprone-nondeterministic-pointer-iteration-order)
  for (const auto &[key, count] : byKey)
    counts[OperationName::getFromOpaquePointer(key).getStringRef().str()] +=
        count;
}

LogicalResult Alternative::finish(Operation *root, LogicalResult result) {
  if (isOwn)
    return result;
  // It may be in the module that an earlier pass manager ran on.
  Operation *whole = rootOf(root);
  if (succeeded(result))
    result = append(root);
  hasFailed = false; // the tool may have other parts of its input
  Silence silence;
  AgentHeap agentHeap;
  if (succeeded(result))
    note(whole);
  else
    finals.erase(ids.of(whole));
  return result;
}

void Alternative::note(Operation *root) {
  FinalIR &last = finals[ids.created(root)] = {};
  if (!report.empty())
    countOperations(root, last.operations);
  if (ir.empty())
    return;
  raw_string_ostream os(last.text);
  root->print(os, OpPrintingFlags().assumeVerified());
  os << '\n';
}

TextMap<int64_t> Alternative::operations() const {
  TextMap<int64_t> all;
  for (const auto &[id, each] : finals)
    for (const auto &[name, count] : each.operations)
      all[name] += count;
  return all;
}

void Alternative::writeIR() const {
  if (ir.empty() || finals.empty())
    return;
  std::error_code error;
  raw_fd_ostream os(ir, error);
  for (const auto &[id, each] : finals)
    os << each.text;
  os.clear_error();
}

} // namespace adbg
