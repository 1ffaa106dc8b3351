#include "engine/Describe.h"
#include "engine/Engine.h"
#include "observe/Legalizations.h"
#include "support/Symbols.h"

#include "mlir/IR/PatternMatch.h"

namespace adbg {

static constexpr size_t mostKept = 1 << 16;
static constexpr unsigned mostNested = 32; // a type may refer to itself

std::string TypeReasons::overhear(function_ref<void()> run) const {
  std::string output;
  if (!asked || probing || !&tool::debugFlag) {
    run();
    return output;
  }
  {
    AgentHeap agentHeap;
    output.reserve(mostKept);
  }
  bool was = std::exchange(tool::debugFlag, true);
  // Of a type in another one, the output of the inner conversion.
  std::string *outer = Files::captureErrors(&output);
  run();
  Files::captureErrors(outer);
  tool::debugFlag = was;
  return output;
}

void TypeReasons::listen(const TypeConverter &converter, Type type,
                         function_ref<bool()> convert) {
  bool isConverted = false;
  std::string output = overhear([&] { isConverted = convert(); });
  AgentHeap agentHeap;
  if (!isConverted && !output.empty())
    said.emplace(std::pair(&converter, type.getAsOpaquePointer()),
                 std::move(output));
  output = std::string();
}

//===----------------------------------------------------------------------===//
// What else converts
//===----------------------------------------------------------------------===//

bool TypeReasons::converts(const TypeConverter &converter, Type type) const {
  SmallVector<Type> types;
  return type && succeeded(converter.convertType(type, types));
}

/// Lists the types and the attributes that a type consists of.
static void walkParts(Type type, function_ref<void(Type)> visit) {
  // The storage of a type begins with its kind.
  auto walk = [&](function_ref<void(Type)> each) {
    auto *const *kind =
        static_cast<const void *const *>(type.getAsOpaquePointer());
    tool::walkSubElements(
        *kind, type.getAsOpaquePointer(), [](Attribute) {}, each);
  };
  if (tool::walkSubElements &&
      facts::subElements.isSafe([&] { walk([](Type) {}); }))
    walk(visit);
}

/// Returns the innermost part of a type that does not convert, or null.
Type TypeReasons::failingPart(const TypeConverter &converter, Type type,
                              unsigned depth) const {
  Type found;
  if (depth == mostNested)
    return found;
  walkParts(type, [&](Type part) {
    if (!found && !converts(converter, part))
      found = part;
  });
  if (!found)
    return nullptr;
  Type inner = failingPart(converter, found, depth + 1);
  return inner ? inner : found;
}

/// Returns a type by its text; null if it is not valid.
static Type parsed(StringRef text, MLIRContext *context) {
  auto parse = [&] {
    return Type::getFromOpaquePointer(
        tool::parseType(text, context, nullptr, true));
  };
  if (!tool::parseType || !facts::parseType.isSafe([&] { parse(); }))
    return nullptr;
  return parse();
}

void TypeReasons::describe(const TypeConverter &converter, Type type,
                           MLIRContext *context, Object &event) {
  Silence silence;
  probing = true;
  // What a converter and the parser report is no error of the tool.
  ScopedDiagnosticHandler handler(context,
                                  [](Diagnostic &) { return success(); });
  auto heard = said.find({&converter, type.getAsOpaquePointer()});
  if (heard != said.end())
    event["said"] = heard->second;
  Type part = failingPart(converter, type, 0);
  if (part)
    event["part"] = printed(part);
  Array similar;
  for (const SimilarType &one : similarTypes(printed(part ? part : type)))
    if (Type other = parsed(one.text, context);
        other && other != type && converts(converter, other))
      similar.push_back(Object{{"how", one.how}, {"type", printed(other)}});
  event["similar"] = std::move(similar);
  probing = false;
}

//===----------------------------------------------------------------------===//
// Types that differ a little
//===----------------------------------------------------------------------===//

static constexpr const char *someSize = "4";

/// Splits a text at the commas that are in no brackets and no string.
static std::vector<std::string> splitAtCommas(StringRef text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool isString = false, isArrow = false;
  for (char c : text) {
    isString ^= c == '"';
    if (!isString && StringRef("<[({").contains(c))
      ++depth;
    if (!isString && !isArrow && StringRef(">])}").contains(c))
      --depth;
    isArrow = c == '-'; // "->" closes nothing
    if (c == ',' && !isString && depth == 0)
      parts.emplace_back();
    else if (c != ' ' || !parts.back().empty())
      parts.back() += c;
  }
  return parts;
}

namespace {
/// memref, tensor or vector<SIZExSIZExELEMENT, LAYOUT, SPACE>.
struct Shaped {
  std::string kind;
  bool isRanked = true;
  std::vector<std::string> sizes; // such as 4, ? and [4]
  std::string element;
  /// Behind the element, each with its comma: a memref's layout, and its space
  /// or a tensor's encoding.
  std::string layout, other;

  explicit operator bool() const { return !kind.empty(); }

  bool has(StringRef mark) const {
    return std::ranges::any_of(
        sizes, [&](StringRef size) { return size.contains(mark); });
  }
  /// Whether it is valid with any other shape of fixed sizes.
  bool hasFreeShape() const {
    return layout.empty() && !has("[") && (kind == "memref" || other.empty());
  }
  std::string text() const {
    std::string shape = isRanked ? "" : "*x";
    for (const std::string &size : sizes)
      shape += size + "x";
    return kind + "<" + shape + element + layout + other + ">";
  }
};
} // namespace

static Shaped shapedOf(StringRef text) {
  Shaped result;
  StringRef kind = text.take_until([](char c) { return c == '<'; });
  if ((kind != "memref" && kind != "tensor" && kind != "vector") ||
      !text.consume_back(">"))
    return result;
  std::vector<std::string> parts =
      splitAtCommas(text.drop_front(kind.size() + 1));
  StringRef rest = parts.front();
  result.isRanked = !rest.consume_front("*x");
  while (result.isRanked) {
    size_t size = rest.find_first_not_of("0123456789?[]");
    if (size == 0 || size >= rest.size() || rest[size] != 'x')
      break;
    result.sizes.push_back(rest.take_front(size).str());
    rest = rest.drop_front(size + 1);
  }
  result.element = rest.str();
  for (size_t i = 1; i < parts.size(); ++i) {
    StringRef part = parts[i];
    bool isLayout = kind == "memref" && i == 1 &&
                    (parts.size() > 2 || part.starts_with("affine_map<") ||
                     part.starts_with("strided<"));
    (isLayout ? result.layout : result.other) += ", " + part.str();
  }
  result.kind = kind.str();
  return result;
}

static bool isFloat(StringRef element) {
  return element.starts_with("f") || element.starts_with("bf") ||
         element.starts_with("tf");
}

static std::vector<SimilarType> similarShaped(const Shaped &type) {
  std::vector<SimilarType> found;
  auto add = [&](const char *how, auto change) {
    Shaped other = type;
    change(other);
    found.push_back({how, other.text()});
  };
  auto addOfSize = [&](const char *how, std::string size) {
    add(how, [&](Shaped &one) { one.sizes = {size}; });
  };
  if (type.kind == "memref" && !type.other.empty())
    add("without a memory space", [](Shaped &one) { one.other.clear(); });
  if (!type.layout.empty())
    add("without a layout", [](Shaped &one) { one.layout.clear(); });
  if (type.kind == "tensor" && !type.other.empty())
    add("without an encoding", [](Shaped &one) { one.other.clear(); });
  if (type.kind == "tensor" && type.isRanked)
    add("as a memref", [](Shaped &one) {
      one.kind = "memref";
      one.other.clear();
    });
  if (type.has("["))
    add("with fixed sizes", [](Shaped &one) {
      for (std::string &size : one.sizes)
        size = StringRef(size).trim("[]").str();
    });
  if (!type.isRanked) {
    add("with a rank", [](Shaped &one) {
      one.isRanked = true;
      one.sizes = {"?"};
    });
    return found;
  }
  const std::vector<std::string> &sizes = type.sizes;
  if (type.has("?"))
    add("with static sizes", [](Shaped &one) {
      std::ranges::replace(one.sizes, std::string("?"), std::string(someSize));
    });
  else if (type.hasFreeShape() && sizes.size() == 1 && sizes[0] != someSize)
    addOfSize("with another size", someSize);
  if (type.hasFreeShape() && sizes.size() > 1) {
    addOfSize("of rank 1", sizes.back());
    if (sizes.back() != someSize)
      addOfSize("of rank 1, with another size", someSize);
  }
  for (const char *element : {"i32", "f32"})
    if (element != type.element && isFloat(element) == isFloat(type.element))
      add("of other elements", [=](Shaped &one) { one.element = element; });
  return found;
}

static bool isNumber(StringRef text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::vector<SimilarType> similarTypes(StringRef type) {
  if (Shaped shaped = shapedOf(type))
    return similarShaped(shaped);
  std::vector<SimilarType> found;
  StringRef width = type;
  bool isSigned = width.consume_front("s") || width.consume_front("u");
  if (width.consume_front("i") && isNumber(width)) {
    if (isSigned)
      found.push_back({"without a sign", "i" + width.str()});
    for (const char *other : {"1", "8", "16", "32", "64"})
      if (width != other)
        found.push_back({"of another width", std::string("i") + other});
  } else if (type == "index") {
    for (const char *other : {"i32", "i64"})
      found.push_back({"as an integer", other});
  } else if (isFloat(type)) {
    for (const char *other : {"f16", "bf16", "f32", "f64"})
      if (type != other)
        found.push_back({"of another kind", other});
  }
  return found;
}

//===----------------------------------------------------------------------===//
// The type converters of patterns
//===----------------------------------------------------------------------===//

/// Reads a word that may not be mapped; null if it is not.
static const void *wordAt(const void *address) {
  const void *word = nullptr;
  return readMemory(address, &word, sizeof(word)) ? word : nullptr;
}

static std::string classAt(const void *vtable) {
  Place place = Place::of(vtable);
  if (!place.isKnown() || place.isCode)
    return "";
  return classOf(static_cast<const void *const *>(vtable));
}

std::string nameOf(const TypeConverter &converter) {
  std::string name = classAt(wordAt(&converter));
  return name == "mlir::TypeConverter" ? "" : name;
}

const TypeConverter *converterOf(const Pattern &pattern) {
  if (!UnnamedPattern(pattern).vtable)
    return nullptr; // of PDL
  // The first member of ConversionPattern; something else in another class.
  const char *end = reinterpret_cast<const char *>(
                        static_cast<const RewritePattern *>(&pattern)) +
                    sizeof(RewritePattern);
  const void *member = wordAt(end);
  if (!member || !StringRef(classAt(wordAt(member))).ends_with("Converter"))
    return nullptr;
  return static_cast<const TypeConverter *>(member);
}

} // namespace adbg
