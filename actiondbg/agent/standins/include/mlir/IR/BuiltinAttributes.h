//===- BuiltinAttributes.h - Types and attributes ---------------*- C++ -*-===//

#pragma once

#include "layout/Layout.h"
#include "layout/Storage.h"
#include "layout/ToolFunctions.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir {

/// A handle of an object of the tool: one pointer.
template <typename Derived, typename Pointed> class Handle {
public:
  using ImplType = Pointed;

  constexpr Handle(const Pointed *impl = nullptr)
      : impl(const_cast<Pointed *>(impl)) {}

  static Derived getFromOpaquePointer(const void *pointer) {
    return Derived(static_cast<const Pointed *>(pointer));
  }

  explicit operator bool() const { return impl; }
  friend bool operator==(const Handle &a, const Handle &b) {
    return a.impl == b.impl;
  }

  const void *getAsOpaquePointer() const { return impl; }
  Pointed *getImpl() const { return impl; }

protected:
  Pointed *impl;
};

struct TypeStorage;

class Type : public Handle<Type, TypeStorage> {
public:
  using Handle::Handle;

  ADBG_STAND_IN void print(raw_ostream &os) const {
    if (impl && adbg::tool::printType && adbg::Layout::offsets.canPrint)
      adbg::tool::printType(this, os);
    else
      os << "<<NULL TYPE>>";
  }
  ADBG_STAND_IN inline void print(raw_ostream &os, AsmState &state) const;
};

inline raw_ostream &operator<<(raw_ostream &os, Type type) {
  type.print(os);
  return os;
}

class Attribute : public Handle<Attribute, adbg::AttributeStorage> {
public:
  using Handle::Handle;

  ADBG_STAND_IN void print(raw_ostream &os, bool elideType = false) const {
    if (impl && adbg::tool::printAttribute && adbg::Layout::offsets.canPrint)
      adbg::tool::printAttribute(this, os, elideType);
    else
      os << "<<NULL ATTRIBUTE>>";
  }
  ADBG_STAND_IN inline void print(raw_ostream &os, AsmState &state,
                                  bool elideType = false) const;
};

inline raw_ostream &operator<<(raw_ostream &os, Attribute attribute) {
  attribute.print(os);
  return os;
}

class StringAttr : public Attribute {
public:
  using Attribute::Attribute;
  explicit StringAttr(Attribute attribute) : Attribute(attribute) {}

  static StringAttr getFromOpaquePointer(const void *pointer) {
    return StringAttr(static_cast<const ImplType *>(pointer));
  }
  static bool classof(Attribute attribute) {
    return attribute.getImpl()->classOf() == adbg::AttributeClass::String;
  }

  StringRef getValue() const {
    auto *stored = impl->as<adbg::StringStorage>();
    return LLVM_LIKELY(stored != nullptr) ? stored->value : StringRef();
  }
  std::string str() const { return getValue().str(); }
  size_t size() const { return getValue().size(); }
  bool empty() const { return getValue().empty(); }
  operator StringRef() const { return getValue(); }
};

class NamedAttribute {
public:
  NamedAttribute(StringAttr name, Attribute value) : name(name), value(value) {}

  StringAttr getName() const { return name; }
  Attribute getValue() const { return value; }

private:
  StringAttr name;
  Attribute value;
};

class DictionaryAttr : public Attribute {
public:
  using Attribute::Attribute;
  explicit DictionaryAttr(Attribute attribute) : Attribute(attribute) {}

  static bool classof(Attribute attribute) {
    return attribute.getImpl()->classOf() == adbg::AttributeClass::Dictionary;
  }

  ArrayRef<NamedAttribute> getValue() const {
    auto *all = impl->as<adbg::DictionaryStorage>();
    if (LLVM_UNLIKELY(!all))
      return {};
    return {reinterpret_cast<const NamedAttribute *>(all->begin), all->size};
  }
  using iterator = const NamedAttribute *;
  iterator begin() const { return getValue().begin(); }
  iterator end() const { return getValue().end(); }
  size_t size() const { return getValue().size(); }
  bool empty() const { return getValue().empty(); }

  /// Names are unique in a context: a known one is compared by its address.
  template <typename Name> Attribute get(const Name &name) const {
    for (const NamedAttribute &one : getValue())
      if (one.getName() == name)
        return one.getValue();
    return nullptr;
  }
};

} // namespace mlir

template <typename T>
  requires requires(const T &handle) { handle.getAsOpaquePointer(); }
struct std::hash<T> {
  size_t operator()(const T &handle) const {
    return std::hash<const void *>()(handle.getAsOpaquePointer());
  }
};
