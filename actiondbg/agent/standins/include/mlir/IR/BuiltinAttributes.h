//===- BuiltinAttributes.h - Strings and dictionaries -----------*- C++ -*-===//

#pragma once

#include "mlir/IR/Attributes.h"

namespace mlir {

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
  Attribute get(StringAttr name) const {
    for (const NamedAttribute &one : getValue())
      if (one.getName() == name)
        return one.getValue();
    return nullptr;
  }
  Attribute get(StringRef name) const {
    for (const NamedAttribute &one : getValue())
      if (one.getName().getValue() == name)
        return one.getValue();
    return nullptr;
  }
};

} // namespace mlir
