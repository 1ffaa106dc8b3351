//===- JSON.cpp - JSON values ---------------------------------------------===//

#include "llvm/Support/JSON.h"
#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace llvm::json {

//===----------------------------------------------------------------------===//
// Objects and arrays
//===----------------------------------------------------------------------===//

Object::Object() = default;
Object::Object(const Object &) = default;
Object::Object(Object &&) noexcept = default;
Object &Object::operator=(const Object &) = default;
Object &Object::operator=(Object &&) noexcept = default;
Object::~Object() = default;
Object::Object(std::initializer_list<Field> all) {
  for (const Field &field : all)
    fields.emplace(field.key, std::move(field.value));
}

void Object::clear() { fields.clear(); }
Object::iterator Object::find(StringRef key) { return fields.find(key); }
Object::const_iterator Object::find(StringRef key) const {
  return fields.find(key);
}
Value &Object::operator[](ObjectKey key) {
  return fields.try_emplace(std::move(key), nullptr).first->second;
}
std::pair<Object::iterator, bool> Object::insert(Field field) {
  return try_emplace(std::move(field.key), std::move(field.value));
}
std::pair<Object::iterator, bool> Object::try_emplace(ObjectKey key,
                                                      Value &&value) {
  return fields.try_emplace(std::move(key), std::move(value));
}
bool Object::erase(StringRef key) {
  auto found = fields.find(key);
  if (found == fields.end())
    return false;
  fields.erase(found);
  return true;
}

const Value *Object::get(StringRef key) const {
  auto found = fields.find(key);
  return found == fields.end() ? nullptr : &found->second;
}
Value *Object::get(StringRef key) {
  auto found = fields.find(key);
  return found == fields.end() ? nullptr : &found->second;
}
std::optional<bool> Object::getBoolean(StringRef key) const {
  const Value *value = get(key);
  return value ? value->getAsBoolean() : std::nullopt;
}
std::optional<double> Object::getNumber(StringRef key) const {
  const Value *value = get(key);
  return value ? value->getAsNumber() : std::nullopt;
}
std::optional<int64_t> Object::getInteger(StringRef key) const {
  const Value *value = get(key);
  return value ? value->getAsInteger() : std::nullopt;
}
std::optional<StringRef> Object::getString(StringRef key) const {
  const Value *value = get(key);
  return value ? value->getAsString() : std::nullopt;
}
const Object *Object::getObject(StringRef key) const {
  const Value *value = get(key);
  return value ? value->getAsObject() : nullptr;
}
Object *Object::getObject(StringRef key) {
  Value *value = get(key);
  return value ? value->getAsObject() : nullptr;
}
const Array *Object::getArray(StringRef key) const {
  const Value *value = get(key);
  return value ? value->getAsArray() : nullptr;
}
Array *Object::getArray(StringRef key) {
  Value *value = get(key);
  return value ? value->getAsArray() : nullptr;
}

Array::Array() = default;
Array::Array(const Array &) = default;
Array::Array(Array &&) noexcept = default;
Array &Array::operator=(const Array &) = default;
Array &Array::operator=(Array &&) noexcept = default;
Array::~Array() = default;
Array::Array(std::initializer_list<Value> all) {
  values.reserve(all.size());
  for (const Value &value : all)
    values.push_back(std::move(const_cast<Value &>(value)));
}

size_t Array::size() const { return values.size(); }
Value &Array::operator[](size_t index) { return values[index]; }
const Value &Array::operator[](size_t index) const { return values[index]; }
Value &Array::front() { return values.front(); }
const Value &Array::front() const { return values.front(); }
Value &Array::back() { return values.back(); }
const Value &Array::back() const { return values.back(); }
void Array::reserve(size_t size) { values.reserve(size); }
void Array::clear() { values.clear(); }
void Array::push_back(const Value &value) { values.push_back(value); }
void Array::push_back(Value &&value) { values.push_back(std::move(value)); }
void Array::pop_back() { values.pop_back(); }
Array::iterator Array::insert(const_iterator at, Value value) {
  return values.insert(at, std::move(value));
}
Array::iterator Array::erase(const_iterator at) { return values.erase(at); }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value::Value(std::string all) : holds(Holds::Text), text(std::move(all)) {
  if (LLVM_UNLIKELY(!isUTF8(text)))
    text = fixUTF8(text);
}

Value::Value(const Value &other) : holds(other.holds) {
  switch (holds) {
  case Holds::Text:
    new (&text) std::string(other.text);
    return;
  case Holds::Array:
    new (&array) json::Array(other.array);
    return;
  case Holds::Object:
    new (&object) json::Object(other.object);
    return;
  default:
    natural = other.natural;
  }
}

/// Moves the content of another value here, where none is.
void Value::take(const Value &other) {
  holds = other.holds;
  switch (holds) {
  case Holds::Text:
    new (&text) std::string(std::move(other.text));
    return;
  case Holds::Array:
    new (&array) json::Array(std::move(other.array));
    return;
  case Holds::Object:
    new (&object) json::Object(std::move(other.object));
    return;
  default:
    natural = other.natural;
  }
}

void Value::destroy() {
  if (holds == Holds::Text)
    text.~basic_string();
  else if (holds == Holds::Array)
    array.~Array();
  else if (holds == Holds::Object)
    object.~Object();
}

Value::Kind Value::kind() const {
  static constexpr Kind kinds[] = {Null,   Boolean, Number, Number,
                                   Number, String,  Array,  Object};
  return kinds[static_cast<unsigned>(holds)];
}

std::optional<std::nullptr_t> Value::getAsNull() const {
  return kind() == Null ? std::optional(nullptr) : std::nullopt;
}
std::optional<bool> Value::getAsBoolean() const {
  return kind() == Boolean ? std::optional(boolean) : std::nullopt;
}
std::optional<double> Value::getAsNumber() const {
  if (kind() != Number)
    return std::nullopt;
  return holds == Holds::Double    ? real
         : holds == Holds::Integer ? static_cast<double>(integer)
                                   : static_cast<double>(natural);
}
std::optional<int64_t> Value::getAsInteger() const {
  if (holds == Holds::Integer)
    return integer;
  if (holds == Holds::Unsigned && natural <= INT64_MAX)
    return natural;
  double whole;
  if (holds == Holds::Double && std::modf(real, &whole) == 0 &&
      real >= -0x1p63 && real < 0x1p63)
    return static_cast<int64_t>(real);
  return std::nullopt;
}
std::optional<uint64_t> Value::getAsUINT64() const {
  if (holds == Holds::Unsigned || (holds == Holds::Integer && integer >= 0))
    return natural;
  return std::nullopt;
}
std::optional<StringRef> Value::getAsString() const {
  return kind() == String ? std::optional(StringRef(text)) : std::nullopt;
}

static bool isSame(const Array &a, const Array &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}
static bool isSame(const Object &a, const Object &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto &one, const auto &other) {
                      return StringRef(one.first) == StringRef(other.first) &&
                             one.second == other.second;
                    });
}
bool operator==(const Value &a, const Value &b) {
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case Value::Null:
    return true;
  case Value::Boolean:
    return a.getAsBoolean() == b.getAsBoolean();
  case Value::Number:
    return a.holds == Value::Holds::Integer || b.holds == Value::Holds::Integer
               ? a.getAsInteger() == b.getAsInteger()
               : a.getAsNumber() == b.getAsNumber();
  case Value::String:
    return a.getAsString() == b.getAsString();
  case Value::Array:
    return isSame(*a.getAsArray(), *b.getAsArray());
  case Value::Object:
    return isSame(*a.getAsObject(), *b.getAsObject());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printText(raw_ostream &os, StringRef text) {
  os << '"';
  const char *from = text.begin();
  // Most text has nothing to escape: write it in pieces.
  for (const char *at = from; at != text.end(); ++at) {
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
  os.write(from, text.end() - from) << '"';
}

static void printNumber(raw_ostream &os, double number) {
  char digits[40];
  os.write(digits, std::snprintf(digits, sizeof(digits), "%.17g", number));
}

void Value::print(raw_ostream &os) const {
  StringRef separator;
  switch (kind()) {
  case Null:
    os << "null";
    return;
  case Boolean:
    os << (*getAsBoolean() ? "true" : "false");
    return;
  case Number:
    if (holds == Holds::Integer)
      os << integer;
    else if (holds == Holds::Unsigned)
      os << natural;
    else
      printNumber(os, real);
    return;
  case String:
    return printText(os, *getAsString());
  case Array:
    os << '[';
    for (const Value &value : *getAsArray()) {
      os << separator << value;
      separator = ",";
    }
    os << ']';
    return;
  case Object:
    os << '{';
    for (const auto &[key, value] : *getAsObject()) {
      os << separator;
      printText(os, key);
      os << ':' << value;
      separator = ",";
    }
    os << '}';
  }
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
    error = (Twine("[") + Twine(before.count('\n') + 1) + ":" +
             Twine(line == StringRef::npos ? at : at - line - 1) +
             ", byte=" + Twine(at) + "]: " + message)
                .str();
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
      if (!parseValue(object[std::move(key)]))
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
    static constexpr StringLiteral names = "\"\\/bfnrt";
    static constexpr StringLiteral meant = "\"\\/\b\f\n\r\t";
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

Expected<Value> parse(StringRef text) {
  Parser parser(text);
  Value value = nullptr;
  if (!parser.parseDocument(value))
    return Error(std::move(parser.error));
  return value;
}

} // namespace llvm::json
