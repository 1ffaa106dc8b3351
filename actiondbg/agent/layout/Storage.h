//===- Storage.h - How MLIR stores attributes and types ---------*- C++ -*-===//

#pragma once

#include "support/LLVM.h"

namespace adbg {

/// What MLIR knows of a class of attributes or types. Only the name is used.
struct AbstractClass;

/// The classes of attributes that the agent tells apart.
enum class AttributeClass : uint8_t {
  Other,
  String,
  Dictionary,
  FileLocation,
  FusedLocation,
  CallSiteLocation,
  NameLocation,
  OpaqueLocation,
  UnknownLocation
};

/// The head of each attribute.
struct AttributeStorage {
  const AbstractClass *abstract;

  /// Returns the class by its name; Other while the offset of the name is not
  /// calibrated.
  AttributeClass classOf() const;
  /// Returns what a class is stored as, whose attribute this is; null if that
  /// is not proved, see Layout::provesStorage.
  template <typename Stored> const Stored *as() const;
};

struct StringStorage : AttributeStorage {
  static constexpr AttributeClass of = AttributeClass::String;
  const void *type;
  StringRef value;
};

/// A name and a value.
struct NamedStorage {
  const StringStorage *name;
  const AttributeStorage *value;
};

struct DictionaryStorage : AttributeStorage {
  static constexpr AttributeClass of = AttributeClass::Dictionary;
  const NamedStorage *begin;
  size_t size;
};

struct FusedStorage : AttributeStorage {
  const AttributeStorage *const *begin;
  size_t size;
};

/// A location that holds another one.
struct CallSiteStorage : AttributeStorage {
  const AttributeStorage *callee, *caller;
};
struct NameStorage : AttributeStorage {
  const StringStorage *name;
  const AttributeStorage *child;
};

/// An opaque location: what it stands for, a class and the location to fall
/// back to.
struct OpaqueStorage : AttributeStorage {
  uintptr_t underlying;
  const void *typeID;
  const AttributeStorage *fallback;
};

} // namespace adbg
