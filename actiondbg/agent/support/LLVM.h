//===- LLVM.h - LLVM's and MLIR's names in namespace adbg -------*- C++ -*-===//

#pragma once

#include "mlir/Support/LLVM.h"
#include "support/System.h"
#include "llvm/Support/raw_ostream.h"

/// Of a variable of static storage that has another value for each MLIR in the
/// process, see detour/Instances.h. It is copied byte by byte.
#define ADBG_OF_INSTANCE __attribute__((section("adbg_of_instance")))

namespace llvm::json {
class Array;
class Object;
class Value;
} // namespace llvm::json

namespace adbg {

using namespace mlir; // which has the names of LLVM that MLIR uses
using Json = llvm::json::Value;
using llvm::raw_fd_ostream;
using llvm::raw_string_ostream;
using llvm::json::Array;
using llvm::json::Object;

/// Returns what an object prints.
template <typename T, typename... Args>
std::string printed(T &&object, Args &&...args) {
  std::string text;
  raw_string_ostream os(text);
  object.print(os, std::forward<Args>(args)...);
  return text;
}

/// Returns an object that is never destroyed: the tool may call the agent in
/// static destructors, and its threads may outlive main.
template <typename T> T &immortal() {
  static T *one = new T;
  return *one;
}

/// In the order of their texts. A text is looked up without a copy.
template <typename Value>
using TextMap = std::map<std::string, Value, std::less<>>;
using TextSet = std::set<std::string, std::less<>>;

/// The value of a key, or a default one.
template <typename Map, typename Key>
typename Map::mapped_type valueOf(const Map &map, const Key &key) {
  auto entry = map.find(key);
  return entry == map.end() ? typename Map::mapped_type() : entry->second;
}

} // namespace adbg
