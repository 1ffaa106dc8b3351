#include "match/Breakpoint.h"

namespace adbg {

Catch Catch::parse(Fields &fields) {
  return {
      fields.choice<CatchKind>("kind", "kind of catch",
                               {{"failure", CatchKind::Failure},
                                {"crash", CatchKind::Crash},
                                {"verify", CatchKind::Verify},
                                {"diagnostic", CatchKind::Diagnostic},
                                {"nonconvergence", CatchKind::Nonconvergence}}),
      Glob::parse(fields, "glob")};
}

Breakpoint Breakpoint::parse(Fields &fields) {
  return {.id = int(fields.integer("id", 1)),
          .enabled = fields.boolean("enabled", true),
          .temporary = fields.boolean("temporary", false),
          .after = fields.boolean("after", false),
          .log = fields.boolean("log", false),
          .ignore = fields.integerOr("ignore", 0, 0),
          .meaning = fields.json({"terms", "condition", "outcome", "after"}),
          .spec = Spec::parse(fields),
          .outcome = fields.inner<OutcomeFilter>("outcome"),
          .watch = fields.inner<Watch>("watch"),
          .catches = fields.inner<Catch>("catch")};
}

//===----------------------------------------------------------------------===//
// Outcomes that a breakpoint stops at
//===----------------------------------------------------------------------===//

OutcomeFilter OutcomeFilter::parse(Fields &fields) {
  // Never destroyed: the tool may stop in static destructors.
  static const auto &all = *new TextMap<Results>{
      {"succeeded", asSet(Result::Succeeded) | asSet(Result::Unchanged)},
      {"unchanged", asSet(Result::Unchanged)},
      {"failed", asSet(Result::Failed)},
      {"skipped", asSet(Result::Skipped)}};
  OutcomeFilter filter;
  for (const std::string &name : fields.texts("results")) {
    Results asked = valueOf(all, name);
    filter.results |= asked;
    filter.changed |= name == "changed";
    if (!asked && name != "changed")
      fields.fail("there is no outcome '" + name + "'");
  }
  filter.reason = Glob::parse(fields, "reason");
  return filter;
}

bool OutcomeFilter::matches(const Frame &frame, bool own) const {
  if (asksForAll())
    return true;
  if (reason &&
      std::ranges::any_of(frame.rare().reasons, [&](const std::string &text) {
        return reason->matchesNow(text);
      }))
    return true;
  if (changed && (own ? frame.changedItself() : frame.changed()))
    return true;
  return results & asSet(frame.result());
}

//===----------------------------------------------------------------------===//
// Watches
//===----------------------------------------------------------------------===//

Watch Watch::parse(Fields &fields) {
  Watch watch;
  watch.about = fields.choice<About>("kind", "kind of watch",
                                     {{"operation", About::Operation},
                                      {"count", About::Count},
                                      {"attribute", About::Attribute}});
  watch.asked = watch.id = fields.integerOr("id", 1, 0);
  watch.exact = fields.boolean("exact", false);
  watch.attribute = fields.textOr("attribute", "");
  watch.glob = Glob::parse(fields, "glob");
  if (watch.about == About::Count ? !watch.glob : !watch.id)
    fields.fail("a watch of the kind '" + fields.text("kind") +
                "' needs the field '" +
                (watch.about == About::Count ? "glob" : "id") + "'");
  if (watch.about == About::Attribute && watch.attribute.empty())
    fields.fail("a watch of an attribute needs the field 'attribute'");
  return watch;
}

bool Watch::isSameAs(const Watch &other) const {
  // The other one may have followed a replacement.
  return about == other.about && asked == other.asked && exact == other.exact &&
         attribute == other.attribute &&
         (about != About::Count || glob->text == other.glob->text);
}

void Watch::arm(Operation *anywhere) {
  if (armed)
    return;
  if (about != About::Count) {
    if (Operation *op = ids.find(id))
      follow(op, id);
    return;
  }
  armed = true;
  countFrom(anywhere);
}

/// Counts the operations that there are now, the outermost one, too, which is
/// never placed.
void Watch::countFrom(Operation *anywhere) {
  if (Operation *root = rootOf(anywhere)) {
    count = 0;
    root->walk([&](Operation *op) {
      count += glob->matches(op->getName().getStringRef());
    });
  }
  counted = count;
}

void Watch::follow(Operation *op, uint32_t newId) {
  armed = true;
  target = op;
  id = newId;
  name = op->getName().getStringRef().str();
  shape = Shape::of(op);
  Attribute now = op->getAttr(attribute);
  value = now.getAsOpaquePointer();
  valueText = attributeText();
}

std::string Watch::attributeText() const {
  if (about != About::Attribute)
    return "";
  Attribute now = target->getAttr(attribute);
  std::string text = now ? printed(now) : "none";
  return text.size() > 200 ? text.substr(0, 197) + "..." : text;
}

void Watch::addEvent(const std::string &what) {
  if (!event.empty())
    event += "; ";
  event += what;
}

//===----------------------------------------------------------------------===//
// Events of operations
//===----------------------------------------------------------------------===//

void Watch::created(Operation *op, uint32_t newId) {
  if (about == About::Count || armed || newId != id)
    return;
  // The operation is incomplete: compare it once it is in place.
  armed = true;
  target = op;
  name = op->getName().getStringRef().str();
}

void Watch::placed(Operation *op, uint32_t placedId, bool isNew) {
  if (about == About::Count) {
    count += armed && isNew && glob->matches(op->getName().getStringRef());
    return;
  }
  if (isNew)
    created(op, placedId);
  if (op != target || !isNew)
    return;
  follow(op, id);
  addEvent("@" + std::to_string(id) + " " + name + " was created");
}

void Watch::moved(Operation *op) {
  if (op != target)
    return;
  shape.block = Shape::of(op).block;
  if (about != About::Attribute)
    addEvent("@" + std::to_string(id) + " " + name + " was moved");
}

void Watch::replaced(Operation *op, const ValueName &by, Operation *next) {
  if (op != target)
    return;
  compare();
  addEvent("@" + std::to_string(id) + " " + name + " was replaced by " +
           (by.isArgument
                ? "block argument " + std::to_string(by.result) + " of "
                : std::string()) +
           "@" + std::to_string(by.id) + " " + by.op);
  if (exact || !next || next == op)
    return;
  follow(next, by.id);
}

void Watch::dropEvents(Operation *anywhere) {
  if (about == About::Count)
    countFrom(anywhere);
  event.clear();
}

void Watch::destroyed(Operation *op, bool wasPlaced) {
  if (about == About::Count)
    count -= armed && wasPlaced && glob->matches(op->getName().getStringRef());
  if (op != target)
    return;
  target = nullptr;
  if (StringRef(event).contains("was replaced by"))
    return;
  addEvent("@" + std::to_string(id) + " " + name + " was erased");
}

void Watch::compare() {
  if (!target)
    return;
  if (about == About::Attribute) {
    if (target->getAttr(attribute).getAsOpaquePointer() == value)
      return;
    std::string old = valueText;
    follow(target, id);
    addEvent("attribute " + attribute + " of @" + std::to_string(id) + " " +
             name + " changed from " + old + " to " + valueText);
    return;
  }
  // The operation is still being created.
  if (shape == Shape())
    return;
  Shape now = Shape::of(target);
  std::string different = shape.differences(now);
  if (different.empty())
    return;
  shape = now;
  addEvent("@" + std::to_string(id) + " " + name +
           " was modified: " + different);
}

std::string Watch::takeEvents() {
  if (about == About::Count) {
    if (count == counted)
      return "";
    addEvent("the number of " + glob->text + " changed from " +
             std::to_string(counted) + " to " + std::to_string(count));
    counted = count;
  } else {
    compare();
  }
  return std::exchange(event, "");
}

} // namespace adbg
