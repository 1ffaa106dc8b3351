//===- Text.cpp - Numbers, hashes and patterns in text --------------------===//

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cctype>

namespace llvm {

std::string utohexstr(uint64_t value, bool isLowerCase) {
  char digits[16];
  auto written = std::to_chars(digits, std::end(digits), value, 16);
  std::string text(digits, written.ptr);
  if (!isLowerCase)
    for (char &c : text)
      c = std::toupper(c);
  return text;
}

std::string toHex(ArrayRef<uint8_t> bytes, bool isLowerCase) {
  std::string digits;
  for (uint8_t byte : bytes) {
    digits += hexdigit(byte >> 4, isLowerCase);
    digits += hexdigit(byte, isLowerCase);
  }
  return digits;
}

void printEscapedString(StringRef text, raw_ostream &os) {
  for (char c : text) {
    if (c == '\\')
      os << "\\\\";
    else if (isPrint(c) && c != '"')
      os << c;
    else
      os << '\\' << hexdigit(static_cast<unsigned char>(c) >> 4) << hexdigit(c);
  }
}

//===----------------------------------------------------------------------===//
// Hashes
//===----------------------------------------------------------------------===//

static uint64_t load(const char *bytes, size_t size) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, size);
  return word;
}
/// Both halves of the product: each bit of the words reaches all of the hash.
static uint64_t fold(uint64_t a, uint64_t b) {
  auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t xxh3_64bits(StringRef text) {
  constexpr uint64_t first = 0x9e3779b97f4a7c15, second = 0xd6e8feb86659fd93,
                     third = 0xa0761d6478bd642f;
  const char *at = text.data();
  size_t left = text.size();
  uint64_t hash = first ^ left;
  for (; left > 16; at += 16, left -= 16)
    hash = fold(load(at, 8) ^ second, load(at + 8, 8) ^ hash);
  uint64_t low = load(at, std::min<size_t>(left, 8));
  uint64_t high = left > 8 ? load(at + 8, left - 8) : 0;
  return fold(third ^ text.size(), fold(low ^ second, high ^ hash));
}

//===----------------------------------------------------------------------===//
// Globs
//===----------------------------------------------------------------------===//

/// Adds the characters of a set such as `a-z_` to `allowed`.
static bool addRanges(StringRef set, std::bitset<256> &allowed) {
  while (!set.empty()) {
    auto first = static_cast<unsigned char>(set[0]), last = first;
    bool isRange = set.size() >= 3 && set[1] == '-';
    if (isRange)
      last = set[2];
    if (first > last)
      return false;
    for (unsigned c = first; c <= last; ++c)
      allowed.set(c);
    set = set.drop_front(isRange ? 3 : 1);
  }
  return true;
}

bool GlobPattern::parse(StringRef pattern, std::string &error) {
  auto fail = [&](const std::string &why) {
    error = why;
    return false;
  };
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*') {
      endsWithStar = true;
      continue;
    }
    Place place;
    place.isAfterStar = std::exchange(endsWithStar, false);
    if (pattern[i] == '?') {
      place.allowed.set();
    } else if (pattern[i] == '[') {
      // A set holds at least one character, which may be `]`.
      size_t end = pattern.find(']', i + 2);
      if (end == StringRef::npos)
        return fail("invalid glob pattern, unmatched '['");
      StringRef set = pattern.slice(i + 1, end);
      bool isInverted = set[0] == '^' || set[0] == '!';
      if (!addRanges(set.drop_front(isInverted), place.allowed))
        return fail("invalid glob pattern: " + pattern);
      if (isInverted)
        place.allowed.flip();
      i = end;
    } else {
      i += pattern[i] == '\\';
      if (i == pattern.size())
        return fail("invalid glob pattern, stray '\\'");
      place.allowed.set(static_cast<unsigned char>(pattern[i]));
    }
    places.push_back(place);
  }
  return true;
}

bool GlobPattern::match(StringRef text) const {
  // After a mismatch, the newest `*` takes one character more.
  constexpr size_t none = StringRef::npos;
  size_t place = 0, at = 0, afterStar = none, taken = 0;
  while (at < text.size()) {
    if (place < places.size()) {
      if (places[place].isAfterStar && afterStar != place) {
        afterStar = place;
        taken = at;
      }
      if (places[place].allowed[static_cast<unsigned char>(text[at])]) {
        ++place;
        ++at;
        continue;
      }
    } else if (endsWithStar) {
      return true;
    }
    if (afterStar == none)
      return false;
    place = afterStar;
    at = ++taken;
  }
  return place == places.size();
}

} // namespace llvm
