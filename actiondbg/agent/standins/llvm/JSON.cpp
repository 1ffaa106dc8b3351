//===- JSON.cpp - JSON values ---------------------------------------------===//

#include "llvm/Support/JSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace llvm::json {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static std::string asUTF8(std::string text) {
  return LLVM_LIKELY(isUTF8(text)) ? std::move(text) : fixUTF8(text);
}

Object::Object(std::initializer_list<Field> all) {
  for (const Field &field : all)
    emplace(asUTF8(field.key), std::move(field.value));
}

Value &Object::operator[](StringRef key) {
  return try_emplace(asUTF8(key.str()), nullptr).first->second;
}
const Value *Object::get(StringRef key) const {
  auto found = find(key);
  return found == end() ? nullptr : &found->second;
}
Value *Object::get(StringRef key) {
  auto found = find(key);
  return found == end() ? nullptr : &found->second;
}
std::optional<int64_t> Object::getInteger(StringRef key) const {
  const Value *value = get(key);
  return value ? value->getAsInteger() : std::nullopt;
}
std::optional<StringRef> Object::getString(StringRef key) const {
  const Value *value = get(key);
  return value ? value->getAsString() : std::nullopt;
}
const Array *Object::getArray(StringRef key) const {
  const Value *value = get(key);
  return value ? value->getAsArray() : nullptr;
}
Object *Object::getObject(StringRef key) {
  Value *value = get(key);
  return value ? value->getAsObject() : nullptr;
}

Array::Array(std::initializer_list<Value> all) {
  reserve(all.size());
  for (const Value &value : all)
    emplace_back(nullptr).content = std::move(value.content);
}

Value::Value(std::string text) : content(asUTF8(std::move(text))) {}

std::optional<int64_t> Value::getAsInteger() const {
  if (auto *natural = std::get_if<uint64_t>(&content))
    return *natural <= INT64_MAX ? std::optional(*natural) : std::nullopt;
  auto *real = std::get_if<double>(&content);
  if (!real)
    return getIf<int64_t>();
  double whole;
  if (std::modf(*real, &whole) == 0 && *real >= -0x1p63 && *real < 0x1p63)
    return static_cast<int64_t>(*real);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void print(raw_ostream &os, const std::string &text) {
  os << '"';
  const char *from = text.data(), *end = from + text.size();
  // Most text has nothing to escape: write it in pieces.
  for (const char *at = from; at != end; ++at) {
    auto c = static_cast<unsigned char>(*at);
    if (LLVM_LIKELY(c >= 0x20 && c != '"' && c != '\\'))
      continue;
    os.write(from, at - from);
    from = at + 1;
    if (c == '"' || c == '\\')
      os << '\\' << c;
    else if (c == '\t' || c == '\n' || c == '\r')
      os << '\\' << (c == '\t' ? 't' : c == '\n' ? 'n' : 'r');
    else
      os << "\\u00" << hexdigit(c >> 4, true) << hexdigit(c, true);
  }
  os.write(from, end - from) << '"';
}

static void print(raw_ostream &os, std::nullptr_t) { os << "null"; }
static void print(raw_ostream &os, bool value) {
  os << (value ? "true" : "false");
}
static void print(raw_ostream &os, int64_t number) { os << number; }
static void print(raw_ostream &os, uint64_t number) { os << number; }
static void print(raw_ostream &os, double number) {
  char digits[40];
  os.write(digits, std::snprintf(digits, sizeof(digits), "%.17g", number));
}
static void print(raw_ostream &os, const Array &all) {
  os << '[';
  interleave(all, os, [&](const Value &one) { os << one; }, ",");
  os << ']';
}
static void print(raw_ostream &os, const Object &object) {
  auto printField = [&](const auto &field) {
    print(os, field.first);
    os << ':' << field.second;
  };
  os << '{';
  interleave(object, os, printField, ",");
  os << '}';
}
raw_ostream &operator<<(raw_ostream &os, const Value &value) {
  std::visit([&](const auto &held) { print(os, held); }, value.content);
  return os;
}

//===----------------------------------------------------------------------===//
// UTF-8
//===----------------------------------------------------------------------===//

/// The bytes of the sequence at the beginning of a text, which is not empty.
/// `isValid`: else as many as begin a valid one, at least one.
static size_t sequenceSize(StringRef text, bool &isValid) {
  const unsigned char *bytes = text.bytes_begin();
  unsigned char first = bytes[0];
  isValid = first < 0x80;
  if (first < 0xc2 || first > 0xf4)
    return 1;
  size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  // No longer form than needed, no surrogates, nothing above U+10FFFF.
  unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  for (size_t i = 1; i < size; ++i) {
    if (i == text.size() || bytes[i] < least || bytes[i] > most)
      return i;
    least = 0x80;
    most = 0xbf;
  }
  isValid = true;
  return size;
}

bool isUTF8(StringRef text, size_t *errorOffset) {
  for (size_t at = 0; at < text.size();) {
    if (LLVM_LIKELY(!(text[at] & 0x80))) {
      ++at;
      continue;
    }
    bool isValid;
    size_t size = sequenceSize(text.substr(at), isValid);
    if (!isValid) {
      if (errorOffset)
        *errorOffset = at;
      return false;
    }
    at += size;
  }
  return true;
}

static constexpr const char *replacement = "\xef\xbf\xbd";

std::string fixUTF8(StringRef text) {
  std::string fixed;
  while (!text.empty()) {
    bool isValid;
    size_t size = sequenceSize(text, isValid);
    fixed += isValid ? text.take_front(size) : StringRef(replacement);
    text = text.drop_front(size);
  }
  return fixed;
}

static void appendCodePoint(std::string &text, uint32_t point) {
  auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  auto addRest = [&](int shift) {
    for (; shift >= 0; shift -= 6)
      add(0x80 | (point >> shift & 0x3f));
  };
  if (point < 0x80)
    return add(point);
  if (point < 0x800) {
    add(0xc0 | point >> 6);
    addRest(0);
  } else if (point < 0x10000) {
    add(0xe0 | point >> 12);
    addRest(6);
  } else {
    add(0xf0 | point >> 18);
    addRest(12);
  }
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// Parses by descent. A function that fails returns false and sets the error.
class Parser {
public:
  explicit Parser(StringRef text) : text(text) {}

  std::string error;

  bool parseDocument(Value &value) {
    if (size_t offset; !isUTF8(text, &offset)) {
      at = offset;
      return fail("Invalid UTF-8 sequence");
    }
    if (!parseValue(value))
      return false;
    skipSpace();
    return at == text.size() || fail("Text after end of document");
  }

private:
  StringRef text;
  size_t at = 0;

  bool fail(const char *message) {
    StringRef before = text.take_front(at);
    size_t line = before.rfind('\n');
    error = "[" + std::to_string(before.count('\n') + 1) + ":" +
            std::to_string(line == StringRef::npos ? at : at - line - 1) +
            ", byte=" + std::to_string(at) + "]: " + message;
    return false;
  }
  bool isOver() const { return at >= text.size(); }
  char peek() const { return isOver() ? 0 : text[at]; }
  char next() { return isOver() ? 0 : text[at++]; }
  void skipSpace() {
    while (!isOver() && StringRef(" \t\r\n").contains(text[at]))
      ++at;
  }
  bool parseWord(StringRef rest, const char *message) {
    for (char expected : rest)
      if (next() != expected)
        return fail(message);
    return true;
  }

  bool parseValue(Value &value) {
    skipSpace();
    if (isOver())
      return fail("Unexpected EOF");
    char c = next();
    switch (c) {
    case 'n':
      value = nullptr;
      return parseWord("ull", "Invalid JSON value (null?)");
    case 't':
      value = true;
      return parseWord("rue", "Invalid JSON value (true?)");
    case 'f':
      value = false;
      return parseWord("alse", "Invalid JSON value (false?)");
    case '[':
      return parseArray(value);
    case '{':
      return parseObject(value);
    case '"': {
      std::string result;
      if (!parseText(result))
        return false;
      value = std::move(result);
      return true;
    }
    default:
      --at;
      return isInNumber(c) ? parseNumber(value)
                           : (++at, fail("Invalid JSON value"));
    }
  }

  bool parseArray(Value &value) {
    value = Array();
    Array &array = *value.getAsArray();
    skipSpace();
    if (peek() == ']')
      return ++at;
    while (true) {
      array.emplace_back(nullptr);
      if (!parseValue(array.back()))
        return false;
      skipSpace();
      char c = next();
      if (c == ']')
        return true;
      if (c != ',')
        return fail("Expected , or ] after array element");
    }
  }

  bool parseObject(Value &value) {
    value = Object();
    Object &object = *value.getAsObject();
    skipSpace();
    if (peek() == '}')
      return ++at;
    while (true) {
      if (next() != '"')
        return fail("Expected object key");
      std::string key;
      if (!parseText(key))
        return false;
      skipSpace();
      if (next() != ':')
        return fail("Expected : after object key");
      if (!parseValue(object[key]))
        return false;
      skipSpace();
      char c = next();
      if (c == '}')
        return true;
      if (c != ',')
        return fail("Expected , or } after object property");
      skipSpace();
    }
  }

  static bool isInNumber(char c) {
    return isDigit(c) || c == 'e' || c == 'E' || c == '+' || c == '-' ||
           c == '.';
  }
  bool parseNumber(Value &value) {
    std::string digits = text.substr(at).take_while(isInNumber).str();
    at += digits.size();
    const char *end = digits.c_str() + digits.size();
    char *parsed;
    errno = 0;
    int64_t integer = std::strtoll(digits.c_str(), &parsed, 10);
    if (parsed == end && errno != ERANGE) {
      value = integer;
      return true;
    }
    if (digits[0] != '-') {
      errno = 0;
      uint64_t large = std::strtoull(digits.c_str(), &parsed, 10);
      if (parsed == end && errno != ERANGE) {
        value = large;
        return true;
      }
    }
    value = std::strtod(digits.c_str(), &parsed);
    return parsed == end || fail("Invalid JSON value (number?)");
  }

  bool parseText(std::string &result) {
    for (char c = next(); c != '"'; c = next()) {
      if (isOver())
        return fail("Unterminated string");
      if ((c & 0x1f) == c)
        return fail("Control character in string");
      if (c != '\\')
        result += c;
      else if (!parseEscape(result))
        return false;
    }
    return true;
  }
  bool parseEscape(std::string &result) {
    static constexpr StringRef names = "\"\\/bfnrt";
    static constexpr StringRef meant = "\"\\/\b\f\n\r\t";
    char c = next();
    if (c == 'u')
      return parseCodePoint(result);
    size_t which = c ? names.find(c) : StringRef::npos;
    if (which == StringRef::npos)
      return fail("Invalid escape sequence");
    result += meant[which];
    return true;
  }
  bool parseCodeUnit(uint32_t &unit) {
    unit = 0;
    // All four are consumed, also after a wrong one: the error names the end.
    char digits[4] = {next(), next(), next(), next()};
    for (char c : digits) {
      if (!isHexDigit(c))
        return fail("Invalid \\u escape sequence");
      unit = unit << 4 | hexDigitValue(c);
    }
    return true;
  }
  /// An unpaired surrogate is valid JSON, but no character.
  bool parseCodePoint(std::string &result) {
    uint32_t first, second;
    if (!parseCodeUnit(first))
      return false;
    while (first >= 0xd800 && first < 0xdc00) {
      if (!text.substr(at).starts_with("\\u")) {
        result += replacement;
        return true;
      }
      at += 2;
      if (!parseCodeUnit(second))
        return false;
      if (second >= 0xdc00 && second < 0xe000) {
        appendCodePoint(result,
                        0x10000 + ((first - 0xd800) << 10) + second - 0xdc00);
        return true;
      }
      result += replacement;
      first = second;
    }
    if (first >= 0xdc00 && first < 0xe000)
      result += replacement;
    else
      appendCodePoint(result, first);
    return true;
  }
};
} // namespace

std::optional<Value> parse(StringRef text, std::string *error) {
  Parser parser(text);
  std::optional<Value> value = nullptr;
  if (!parser.parseDocument(*value))
    value.reset();
  if (error)
    *error = std::move(parser.error);
  return value;
}

} // namespace llvm::json
