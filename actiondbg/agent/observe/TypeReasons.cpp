//===- TypeReasons.cpp - Why a type does not convert ----------------------===//

#include "observe/TypeReasons.h"
#include "engine/Describe.h"
#include "engine/Engine.h"
#include "fork/Files.h"
#include "support/AgentHeap.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/DialectConversion.h"
#include <dlfcn.h>

using namespace mlir;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;

namespace adbg {

static constexpr int64_t someSize = 4;
static constexpr size_t mostKept = 1 << 16;
static constexpr unsigned mostNested = 32; // a type may refer to itself

/// LLVM's switch of -debug; null where it is not exported. A reference to it
/// would break a process without LLVM.
static bool *debugFlag() {
  static auto *flag =
      static_cast<bool *>(dlsym(RTLD_DEFAULT, "_ZN4llvm9DebugFlagE"));
  return flag;
}

/// Returns what the conversion of a type prints with -debug: a tool with
/// assertions does. It prints nothing again for a type in its cache.
std::string TypeReasons::debugOutput(const TypeConverter &converter,
                                     Type type) const {
  std::string output;
  if (!debugFlag())
    return output;
  {
    llvm::sys::SmartScopedWriter<true> lock(converter.cacheMutex);
    converter.cachedDirectConversions.erase(type);
    converter.cachedMultiConversions.erase(type);
  }
  output.reserve(mostKept);
  bool was = std::exchange(*debugFlag(), true);
  Files::captureErrors(&output);
  converts(converter, type);
  Files::captureErrors(nullptr);
  *debugFlag() = was;
  return output;
}

//===----------------------------------------------------------------------===//
// What else converts
//===----------------------------------------------------------------------===//

bool TypeReasons::converts(const TypeConverter &converter, Type type) const {
  llvm::SmallVector<Type> types;
  return type && succeeded(converter.convertType(type, types));
}

/// Returns the innermost part of a type that does not convert, or null.
Type TypeReasons::failingPart(const TypeConverter &converter, Type type,
                              unsigned depth) const {
  Type found;
  if (depth == mostNested)
    return found;
  type.walkImmediateSubElements([](Attribute) {},
                                [&](Type part) {
                                  if (!found && !converts(converter, part))
                                    found = part;
                                });
  if (!found)
    return nullptr;
  Type inner = failingPart(converter, found, depth + 1);
  return inner ? inner : found;
}

namespace {
/// A type, and how it differs.
struct Similar {
  const char *how;
  Type type;
};
} // namespace

/// Whether the type is valid with any other shape of fixed sizes.
static bool hasFreeShape(ShapedType type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return memref.getLayout().isIdentity();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding();
  return !cast<VectorType>(type).isScalable();
}

static Type withShape(ShapedType type, llvm::ArrayRef<int64_t> shape) {
  // Its clone would keep as many flags of scalable sizes as it has sizes.
  if (auto vector = dyn_cast<VectorType>(type); vector && !vector.isScalable())
    return VectorType::get(shape, vector.getElementType());
  return type.clone(shape, type.getElementType());
}

static void addSimilar(ShapedType type, llvm::SmallVectorImpl<Similar> &found) {
  MLIRContext *context = type.getContext();
  if (auto memref = dyn_cast<MemRefType>(type)) {
    auto make = [&](MemRefLayoutAttrInterface layout, Attribute space) {
      return MemRefType::get(memref.getShape(), memref.getElementType(), layout,
                             space);
    };
    if (memref.getMemorySpace())
      found.push_back(
          {"without a memory space", make(memref.getLayout(), Attribute())});
    if (!memref.getLayout().isIdentity())
      found.push_back({"without a layout", make(MemRefLayoutAttrInterface(),
                                                memref.getMemorySpace())});
  }
  if (auto tensor = dyn_cast<RankedTensorType>(type);
      tensor && tensor.getEncoding())
    found.push_back(
        {"without an encoding",
         RankedTensorType::get(tensor.getShape(), tensor.getElementType())});
  if (auto tensor = dyn_cast<RankedTensorType>(type);
      tensor && BaseMemRefType::isValidElementType(tensor.getElementType()))
    found.push_back({"as a memref", MemRefType::get(tensor.getShape(),
                                                    tensor.getElementType())});
  if (auto vector = dyn_cast<VectorType>(type); vector && vector.isScalable())
    found.push_back(
        {"with fixed sizes",
         VectorType::get(vector.getShape(), vector.getElementType())});
  if (!type.hasRank()) {
    int64_t any[] = {ShapedType::kDynamic};
    if (auto memref = dyn_cast<UnrankedMemRefType>(type))
      found.push_back(
          {"with a rank", MemRefType::get(any, memref.getElementType(),
                                          MemRefLayoutAttrInterface(),
                                          memref.getMemorySpace())});
    else
      found.push_back(
          {"with a rank", RankedTensorType::get(any, type.getElementType())});
    return;
  }
  llvm::SmallVector<int64_t> shape(type.getShape());
  if (!type.hasStaticShape()) {
    for (int64_t &size : shape)
      size = ShapedType::isDynamic(size) ? someSize : size;
    found.push_back({"with static sizes", withShape(type, shape)});
  } else if (hasFreeShape(type) && shape.size() == 1 && shape[0] != someSize) {
    found.push_back({"with another size", withShape(type, {someSize})});
  }
  if (hasFreeShape(type) && shape.size() > 1) {
    found.push_back({"of rank 1", withShape(type, {shape.back()})});
    found.push_back(
        {"of rank 1, with another size", withShape(type, {someSize})});
  }
  for (Type element :
       {Type(IntegerType::get(context, 32)), Type(Float32Type::get(context))})
    if (element != type.getElementType() &&
        isa<FloatType>(element) == isa<FloatType>(type.getElementType()))
      found.push_back({"of other elements", type.clone(element)});
}

static void addSimilar(Type type, llvm::SmallVectorImpl<Similar> &found) {
  MLIRContext *context = type.getContext();
  auto integer = [&](unsigned width) {
    return Similar{"of another width", IntegerType::get(context, width)};
  };
  if (isa<BaseMemRefType, TensorType, VectorType>(type))
    return addSimilar(cast<ShapedType>(type), found);
  if (auto own = dyn_cast<IntegerType>(type)) {
    if (!own.isSignless())
      found.push_back(
          {"without a sign", IntegerType::get(context, own.getWidth())});
    for (unsigned width : {1, 8, 16, 32, 64})
      if (width != own.getWidth())
        found.push_back(integer(width));
  } else if (isa<FloatType>(type)) {
    for (Type other :
         {Type(Float16Type::get(context)), Type(BFloat16Type::get(context)),
          Type(Float32Type::get(context)), Type(Float64Type::get(context))})
      if (other != type)
        found.push_back({"of another kind", other});
  } else if (isa<IndexType>(type)) {
    for (unsigned width : {32, 64})
      found.push_back({"as an integer", IntegerType::get(context, width)});
  }
}

static llvm::json::Value typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return safe(text);
}

void TypeReasons::describe(const TypeConverter &converter, Type type,
                           Object &event) {
  Silence silence;
  probing = true;
  // What a converter reports is no error of the tool.
  ScopedDiagnosticHandler handler(type.getContext(),
                                  [](Diagnostic &) { return success(); });
  if (std::string said = debugOutput(converter, type); !said.empty())
    event["said"] = safe(said);
  Type part = failingPart(converter, type, 0);
  if (part)
    event["part"] = typeText(part);
  llvm::SmallVector<Similar> all;
  addSimilar(part ? part : type, all);
  Array similar;
  for (const Similar &one : all)
    if (converts(converter, one.type))
      similar.push_back(Object{{"how", one.how}, {"type", typeText(one.type)}});
  event["similar"] = std::move(similar);
  probing = false;
}

} // namespace adbg
