#include "match/Glob.h"
#include "engine/Frame.h"

namespace adbg {

std::optional<Glob> Glob::create(StringRef text, std::string &error) {
  Glob glob;
  glob.text = text.str();
  if (!glob.pattern.parse(text, error)) {
    error = "the glob '" + glob.text + "' is malformed: " + error;
    return std::nullopt;
  }
  return glob;
}

std::optional<Glob> Glob::parse(Fields &fields, StringRef key) {
  std::string text = fields.textOr(key, ""), error;
  if (text.empty())
    return std::nullopt;
  std::optional<Glob> glob = create(text, error);
  if (!glob)
    fields.fail(error);
  return glob;
}

bool Glob::matchesNow(StringRef candidate) const {
  return candidate == text || pattern.match(candidate);
}

bool Glob::matches(StringRef candidate) {
  return known.get(candidate, [&] { return matchesNow(candidate); });
}

bool Glob::matchesName(StringRef name) {
  return knownNames.get(name, [&] {
    std::string plain = withoutAnonymous(name);
    return matchesNow(name) || matchesNow(plain) ||
           matchesNow(lastComponent(plain));
  });
}

} // namespace adbg
