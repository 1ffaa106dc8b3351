//===- stand_ins.cpp - What LLVM's classes answer -------------------------===//
//
// Prints the answers of the classes of LLVM that the agent uses. Compiled
// twice, with LLVM's headers and with the agent's own stand-ins for them: the
// output must be the same.
//
//===----------------------------------------------------------------------===//

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdio>
#include <string>

using llvm::StringRef;
using Json = llvm::json::Value;

/// Writes one answer, with what is not printable escaped.
static void put(const char *about, StringRef answer) {
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printEscapedString(answer, os);
  std::printf("%s: %s\n", about, escaped.c_str());
}
static void put(const char *about, int64_t answer) {
  std::printf("%s: %lld\n", about, static_cast<long long>(answer));
}

/// The same numbers in both programs.
static uint64_t nextRandom() {
  static uint64_t state = 88172645463325252;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}
static std::string randomText(StringRef alphabet, size_t most) {
  std::string text(nextRandom() % (most + 1), 0);
  for (char &c : text)
    c = alphabet[nextRandom() % alphabet.size()];
  return text;
}

static std::string printed(const Json &value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << value;
  return os.str();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

// Where LLVM returns an error, the stand-ins have it in an argument.
#if __has_include("llvm/Support/Error.h")
static std::optional<Json> parse(StringRef text, std::string *error) {
  llvm::Expected<Json> value = llvm::json::parse(text);
  if (value)
    return std::move(*value);
  *error = llvm::toString(value.takeError());
  return std::nullopt;
}
static bool parse(llvm::GlobPattern &pattern, StringRef text,
                  std::string &error) {
  llvm::Expected<llvm::GlobPattern> parsed = llvm::GlobPattern::create(text);
  if (parsed)
    pattern = std::move(*parsed);
  else
    error = llvm::toString(parsed.takeError());
  return error.empty();
}
using Parts = llvm::SmallVector<StringRef>;
#else
using Parts = std::vector<StringRef>;
using llvm::json::parse;
static bool parse(llvm::GlobPattern &pattern, StringRef text,
                  std::string &error) {
  return pattern.parse(text, error);
}
#endif

static void parseOne(StringRef text) {
  std::string error;
  std::optional<Json> value = parse(text, &error);
  if (value)
    return put("parsed", printed(*value));
  put("not parsed", error);
}

static void checkParsing() {
  for (const char *text : {"",
                           " ",
                           "null",
                           "true",
                           "false",
                           "nul",
                           "trux",
                           "fals",
                           "[]",
                           "[ ]",
                           "{}",
                           "{ }",
                           "[1,2, 3]",
                           "[1,]",
                           "[1 2]",
                           "[,]",
                           "[",
                           "{",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\":1",
                           "{\"a\":1,",
                           "{\"a\":1,}",
                           "{\"a\" : [ null ]}",
                           "{a:1}",
                           "{\"b\":1,\"a\":2,\"aa\":3,\"\":4}",
                           "{\"a\":1,\"a\":2}",
                           "\"",
                           "\"a",
                           "\"a\\",
                           "\"a\\x\"",
                           "\"\\u00e9\\u20ac\"",
                           "\"\\ud83d\\ude00\"",
                           "\"\\ud83d\"",
                           "\"\\ude00\"",
                           "\"\\ud83dx\"",
                           "\"\\ud83d\\u0041\"",
                           "\"\\ud83d\\ud83d\\ude00\"",
                           "\"\\u12\"",
                           "\"\\u12G4\"",
                           "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                           "\"a\nb\"",
                           "\"a\tb\"",
                           "1 2",
                           "[1]x",
                           "\n\n  [1,\n 2,\n x]",
                           "-",
                           "+1",
                           "01",
                           "-0",
                           "-0.0",
                           "1e3",
                           "1E+2",
                           "1.5",
                           "1.",
                           ".5",
                           "1e",
                           "1e400",
                           "-1e400",
                           "0.1",
                           "123456789012345678901234567890",
                           "9223372036854775807",
                           "9223372036854775808",
                           "18446744073709551615",
                           "18446744073709551616",
                           "-9223372036854775808",
                           "-9223372036854775809",
                           "1.7976931348623157e308",
                           "5e-324",
                           "3.141592653589793",
                           "1-2",
                           "--1",
                           "\"\x80\"",
                           "\xff",
                           "[\n\"\xc3\"]",
                           "\"\xe2\x82\xac\"",
                           "\"\x7f\"",
                           "{\"\\u0000\":\"\\u001f\"}",
                           "[[[[[[1]]]]]]",
                           "\xef\xbb\xbf[]",
                           "\v1",
                           "tru",
                           "[tru",
                           "[nulL]"})
    parseOne(text);
  for (int i = 0; i < 2000; ++i)
    parseOne(randomText("[]{},:\"\\u0123de. \n-trfalsn", 12));
}

static void checkValues() {
  for (double number :
       {0.0, -0.0, 1.0, 0.1, 1e21, 1e22, 123456789.0, 1.0 / 3, -2.5e-10,
        4.9e-324, 1e300, 9007199254740993.0, 1e15, 0x1p62, 0x1p64}) {
    put("double", printed(number));
    llvm::json::Object fields{{"it", number}};
    put("as integer", fields.getInteger("it").value_or(-1));
  }
  put("integers", printed(llvm::json::Array{INT64_MIN, INT64_MAX, 0, -1, 7u,
                                            uint64_t(UINT64_MAX), 'a', true,
                                            short(-3), nullptr}));
  std::string all;
  for (int c = 0; c < 128; ++c)
    all += static_cast<char>(c);
  put("characters", printed(all));
  llvm::json::Object object{{"z", 1}, {"a", "text"}, {"B", nullptr}};
  object["\xc3\xa9"] = llvm::json::Array{1, "two", llvm::json::Object{}};
  object["m"] = llvm::json::Object{{"k", false}};
  object["list"] = llvm::json::Array(llvm::ArrayRef<int>({3, 1, 2}));
  put("size", object.size());
  put("text", object.getString("a").value_or("none"));
  put("no text", object.getString("B").value_or("none"));
  put("absent", object.get("zz") == nullptr);
  put("inner", object.getObject("m")->get("k")->getAsBoolean() == false);
  put("array", (*object.getArray("list"))[0].getAsInteger().value_or(0));
  Json copy(std::move(object));
  put("object", printed(copy));
}

static void checkUTF8() {
  for (int i = 0; i < 3000; ++i) {
    std::string text = randomText(
        "a\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0"
        "\xf1\xf3\xf4\xf5\xff",
        6);
    size_t offset = 0;
    if (llvm::json::isUTF8(text, &offset)) {
      put("UTF-8", text);
      continue;
    }
    put("invalid at", offset);
    put("mended", llvm::json::fixUTF8(text));
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

template <typename T> static void parseInteger(StringRef text, unsigned radix) {
  T value = 42;
  bool failed = text.getAsInteger(radix, value);
  put("integer", failed ? "no" : std::to_string(value));
  StringRef rest = text;
  value = 42;
  failed = rest.consumeInteger(radix, value);
  put("first integer", failed ? "no" : std::to_string(value));
  put("rest", failed ? "" : rest);
}

static void checkIntegers() {
  std::vector<std::string> texts = {"",
                                    "0",
                                    "-0",
                                    "-",
                                    "+1",
                                    "12",
                                    "0x1F",
                                    "0b101",
                                    "0o7",
                                    "017",
                                    "08",
                                    "0x",
                                    "0b2",
                                    "-0x10",
                                    "128",
                                    "-128",
                                    "-129",
                                    "255",
                                    "256",
                                    "4294967296",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "-9223372036854775808",
                                    "-9223372036854775809",
                                    "18446744073709551615",
                                    "18446744073709551616",
                                    "99999999999999999999",
                                    "1 ",
                                    " 1",
                                    "1a",
                                    "0X1f",
                                    "0B1",
                                    "0O7",
                                    "zz"};
  for (int i = 0; i < 300; ++i)
    texts.push_back(randomText("0123456789abcdefx-", 20));
  for (const std::string &text : texts)
    for (unsigned radix : {2u, 8u, 10u, 16u, 36u}) {
      parseInteger<int8_t>(text, radix);
      parseInteger<uint32_t>(text, radix);
      parseInteger<int64_t>(text, radix);
      parseInteger<uint64_t>(text, radix);
    }
}

static void checkSearches() {
  for (int i = 0; i < 2000; ++i) {
    std::string whole = randomText("abAB/.", 10), part = randomText("ab/", 2);
    StringRef text = whole;
    size_t from = nextRandom() % 12, size = nextRandom() % 5;
    put("find", text.find(part, from));
    put("find a", text.find('a', from));
    put("rfind a", text.rfind('a'));
    put("rfind before", text.rfind('a', from));
    put("not of", text.find_first_not_of("ab", from));
    put("last not of", text.find_last_not_of("ab"));
    put("contains", text.contains(part));
    put("starts", text.starts_with(part));
    put("ends", text.ends_with(part));
    put("order", text.compare(part));
    put("less", text < StringRef(part));
    put("substr", text.substr(from, size));
    put("slice", text.slice(size, from));
    put("front", text.take_front(from));
    put("back", text.take_back(from));
    put("trimmed", text.trim("ab"));
    put("right trimmed", text.rtrim('/'));
    put("while", text.take_while(llvm::isAlpha));
    if (!part.empty()) {
      auto [left, right] = text.split(part);
      put("left", left);
      put("right", right);
    }
    Parts parts;
    text.split(parts, '/');
    put("parts", llvm::join(parts, "|"));
    StringRef rest = text;
    put("consumed", rest.consume_front(part));
    put("consumed behind", rest.consume_back(part));
    put("rest", rest);
  }
}

static void checkNumbers() {
  put("utohexstr", llvm::utohexstr(0xabcdef) + llvm::utohexstr(0, true) +
                       llvm::utohexstr(255, true) +
                       llvm::utohexstr(UINT64_MAX));
  uint8_t bytes[] = {1, 0xfe, ' ', 0x9f};
  put("toHex", llvm::toHex(llvm::ArrayRef(bytes)) +
                   llvm::toHex(llvm::ArrayRef(bytes), true));
}

//===----------------------------------------------------------------------===//
// Globs
//===----------------------------------------------------------------------===//

static void checkGlobs() {
  std::vector<std::string> globs = {
      "",        "*",       "**",      "a*b*c", "?",   "[a-c]", "[!a]",
      "[^a-b]*", "[]a]",    "[a",      "[c-a]", "\\*", "a\\",   "a[]",
      "{a,b}",   "x[z-a]y", "ab[c-a]", "[-a]",  "[a-]"};
  for (int i = 0; i < 400; ++i)
    globs.push_back(randomText("aab*?[]!^-\\{},", 7));
  for (const std::string &glob : globs) {
    llvm::GlobPattern pattern;
    std::string error;
    put("glob", glob);
    if (!parse(pattern, glob, error)) {
      // The rest of the message is the part of the pattern that was left.
      put("wrong", StringRef(error).split(": ").first);
      continue;
    }
    std::string matches;
    for (int i = 0; i < 60; ++i)
      matches += pattern.match(randomText("aab*]-^,{}\\", 6)) ? '1' : '0';
    put("matches", matches);
  }
}

//===----------------------------------------------------------------------===//
// Vectors and streams
//===----------------------------------------------------------------------===//

static void checkVectors() {
  llvm::SmallVector<std::string, 2> texts;
  for (int i = 0; i < 3000; ++i) {
    switch (nextRandom() % 8) {
    case 0:
      if (!texts.empty())
        texts.push_back(texts[nextRandom() % texts.size()]);
      break;
    case 1:
      if (!texts.empty())
        texts.truncate(texts.size() - 1);
      break;
    case 2:
      texts.resize(nextRandom() % 9);
      break;
    case 3: {
      const char *other[] = {"one", "two", "three"};
      texts.append(other, other + nextRandom() % 4);
      break;
    }
    default:
      texts.emplace_back("new " + std::to_string(i));
    }
    put("vector", llvm::join(texts, ","));
  }
  put("taken", llvm::ArrayRef<std::string>(texts).take_front(2).size());
}

static void checkStreams() {
  std::string text;
  {
    llvm::raw_string_ostream os(text);
    os << 1 << ' ' << -2L << ' ' << 3u << ' ' << UINT64_MAX << ' ' << 'c' << ' '
       << static_cast<unsigned char>('u') << ' ' << StringRef("ref") << " "
       << std::string("text") << INT64_MIN << ' '
       << reinterpret_cast<void *>(0xabc) << ' ' << 1.5 << ' ' << 1e100;
    os.indent(5).write("raw", 3) << os.tell();
  }
  put("stream", text);
  std::error_code error;
  llvm::raw_fd_ostream missing("/no such folder/file", error);
  put("error", error.message());
  missing.clear_error();
}

int main() {
  checkParsing();
  checkValues();
  checkUTF8();
  checkIntegers();
  checkSearches();
  checkNumbers();
  checkGlobs();
  checkVectors();
  checkStreams();
}
