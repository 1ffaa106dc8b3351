//===- DescribeOutcome.cpp - Outcomes and changes as JSON -----------------===//

#include "engine/Describe.h"

namespace adbg {

Json idOrNull(uint32_t id) { return id ? Json(int64_t(id)) : nullptr; }

std::string describeFolded(OpFoldResult result, const Observer &observer) {
  std::string text;
  raw_string_ostream os(text);
  if (auto attribute = dyn_cast<Attribute>(result)) {
    attribute.print(os);
    return text.size() > 200 ? text.substr(0, 197) + "..." : text;
  }
  ValueName name = observer.nameOf(cast<Value>(result));
  os << (name.isArgument ? "block argument " : "result ") << name.result
     << " of @" << name.id << " " << name.op;
  return text;
}

static std::optional<std::string> howOf(const Frame &frame) {
  if (frame.found != Found::Nothing)
    return textOf(frame.found).str();
  if (!frame.isConversion())
    return std::nullopt;
  auto count = [](uint32_t number, const char *what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  return "legalized " + count(frame.legalized, "operation") + ", rolled back " +
         count(frame.rolledBack, "pattern");
}

Json describeOutcome(const Frame &frame) {
  Array reasons, values;
  for (const std::string &reason : frame.rare().reasons)
    reasons.push_back(reason);
  for (const std::string &value : frame.rare().values)
    values.push_back(value);
  return Object{{"result", textOf(frame.result())},
                {"reasons", std::move(reasons)},
                {"how", howOf(frame)},
                {"values", std::move(values)}};
}

static Json describeChange(const Change &change) {
  Object object{{"kind", textOf(change.kind)},
                {"what", change.isBlock ? "block" : "operation"},
                {"op", change.op.getStringRef()},
                {"id", idOrNull(change.id)},
                {"by", nullptr},
                {"location", placeText(change.loc)},
                {"ordinal", int64_t(change.ordinal)},
                {"guess", change.guess}};
  if (change.kind != ChangeKind::Replaced)
    return object;
  Array by;
  for (const ValueName &value : change.by)
    by.push_back(Object{
        {"id", idOrNull(value.id)},
        {"op", value.isArgument ? Json("block argument") : Json(value.op)},
        {"result", int64_t(value.result)}});
  object["by"] = std::move(by);
  return object;
}

Array describeChanges(const Frame &frame, const ChangeLog &log, bool nested,
                      uint64_t most) {
  Array changes;
  if (frame.kind == Kind::None)
    return changes;
  for (uint64_t i = std::max(frame.tally.first, log.begin());
       i < log.end() && changes.size() < most; ++i)
    if (nested || log[i].ordinal == frame.ordinal)
      changes.push_back(describeChange(log[i]));
  return changes;
}

Json describeCulprit(const std::optional<Culprit> &culprit) {
  if (!culprit)
    return nullptr;
  return Object{{"ordinal", int64_t(culprit->ordinal)},
                {"tag", culprit->tag},
                {"name", culprit->name},
                {"guess", culprit->guess}};
}

void addOutcome(Object &stop, const Frame &frame, const ChangeLog &log,
                uint64_t mostChanges) {
  bool isOver = frame.over && frame.kind != Kind::None;
  stop["changes"] =
      isOver ? describeChanges(frame, log, /*nested=*/true, mostChanges)
             : Array();
  stop["changeCount"] = isOver ? int64_t(frame.tally.total()) : 0;
  stop["outcome"] = isOver ? describeOutcome(frame) : Json(nullptr);
}

} // namespace adbg
