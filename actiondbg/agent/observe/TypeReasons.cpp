//===- TypeReasons.cpp - Why a type does not convert ----------------------===//

#include "observe/TypeReasons.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "fork/Files.h"
#include "layout/Facts.h"
#include "observe/SimilarTypes.h"
#include "support/AgentHeap.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

namespace adbg {

static constexpr size_t mostKept = 1 << 16;
static constexpr unsigned mostNested = 32; // a type may refer to itself

void TypeReasons::listen(const TypeConverter &converter, Type type,
                         llvm::function_ref<bool()> convert) {
  if (!asked || probing || !&tool::debugFlag) {
    convert();
    return;
  }
  std::string output;
  {
    AgentHeap agentHeap;
    output.reserve(mostKept);
  }
  bool was = std::exchange(tool::debugFlag, true);
  // Of a type in another one, the output of the inner conversion.
  std::string *outer = Files::captureErrors(&output);
  bool isConverted = convert();
  Files::captureErrors(outer);
  tool::debugFlag = was;
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
  llvm::SmallVector<Type> types;
  return type && succeeded(converter.convertType(type, types));
}

/// Lists the types and the attributes that a type consists of.
static void walkParts(Type type, llvm::function_ref<void(Type)> visit) {
  // The storage of a type begins with its kind.
  auto walk = [&](llvm::function_ref<void(Type)> each) {
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
static Type parsed(llvm::StringRef text, MLIRContext *context) {
  auto parse = [&] {
    return Type::getFromOpaquePointer(
        tool::parseType(text, context, nullptr, true));
  };
  if (!tool::parseType || !facts::parseType.isSafe([&] { parse(); }))
    return nullptr;
  return parse();
}

static llvm::json::Value typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return safe(text);
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
    event["said"] = safe(heard->second);
  Type part = failingPart(converter, type, 0);
  if (part)
    event["part"] = typeText(part);
  std::string text;
  llvm::raw_string_ostream(text) << (part ? part : type);
  Array similar;
  for (const SimilarType &one : similarTypes(text))
    if (Type other = parsed(one.text, context);
        other && other != type && converts(converter, other))
      similar.push_back(Object{{"how", one.how}, {"type", typeText(other)}});
  event["similar"] = std::move(similar);
  probing = false;
}

} // namespace adbg
