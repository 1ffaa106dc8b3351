//===- OperationSupport.h - Names of operations and flags -------*- C++ -*-===//

#pragma once

#include "layout/ToolFunctions.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"

namespace mlir {

class TypeID {
public:
  TypeID() = default;

  static TypeID getFromOpaquePointer(const void *pointer) {
    TypeID id;
    id.storage = pointer;
    return id;
  }

  bool operator==(TypeID other) const { return storage == other.storage; }

private:
  const void *storage = nullptr;
};

namespace detail {

struct FallbackTypeIDResolver {
  /// Returns no ID if the tool lacks the function.
  ADBG_STAND_IN static TypeID registerImplicitTypeID(StringRef name) {
    if (!adbg::tool::registerTypeID)
      return TypeID();
    return TypeID::getFromOpaquePointer(adbg::tool::registerTypeID(name));
  }
  /// Returns the ID of `void`.
  static TypeID ofVoid() {
    return TypeID::getFromOpaquePointer(&adbg::tool::voidID);
  }
};

} // namespace detail
class OpAsmPrinter;

/// Only passed on.
class NamedAttrList;
struct OperationState;

class OpaqueProperties {
public:
  OpaqueProperties(void *properties) : properties(properties) {}

  template <typename T> T as() const { return static_cast<T>(properties); }

private:
  void *properties;
};

/// An element of the list of interfaces that an operation implements, which is
/// sorted by the address of the ID.
struct InterfaceEntry {
  TypeID id;
  void *concept_;
};

class OperationName {
public:
  /// The functions of an operation's class, in the order of their table.
  struct InterfaceConcept {
    virtual ~InterfaceConcept() = default;
    virtual LogicalResult foldHook(Operation *op, ArrayRef<Attribute> operands,
                                   void *results) = 0;
    virtual void getCanonicalizationPatterns(void *patterns,
                                             MLIRContext *context) = 0;
    virtual bool hasTrait(TypeID id) = 0;
    virtual void getParseAssemblyFn() = 0;
    virtual void populateDefaultAttrs(const OperationName &, void *) = 0;
    virtual void printAssembly(Operation *op, OpAsmPrinter &printer,
                               StringRef dialect) = 0;
    virtual LogicalResult verifyInvariants(Operation *op) = 0;
  };

  struct Impl : InterfaceConcept {
    StringAttr name;
    TypeID typeID;
    Dialect *dialect;
    SmallVector<InterfaceEntry, 3> interfaces;
    ArrayRef<StringAttr> attributeNames;
  };

  ADBG_STAND_IN OperationName(StringRef name, MLIRContext *context) {
    adbg::tool::makeName(this, name, context);
  }

  static OperationName getFromOpaquePointer(const void *pointer) {
    return OperationName(static_cast<Impl *>(const_cast<void *>(pointer)));
  }

  StringAttr getIdentifier() const { return impl->name; }
  StringRef getStringRef() const { return impl->name.getValue(); }
  void *getAsOpaquePointer() const { return impl; }
  /// An operation that is not registered has the ID of `void`.
  bool isRegistered() const {
    return getTypeID() != detail::FallbackTypeIDResolver::ofVoid();
  }
  TypeID getTypeID() const { return impl->typeID; }
  bool hasTrait(TypeID id) const { return impl->hasTrait(id); }
  LogicalResult verifyInvariants(Operation *op) const {
    return impl->verifyInvariants(op);
  }
  ArrayRef<StringAttr> getAttributeNames() const {
    return impl->attributeNames;
  }
  /// Returns the functions of an interface; null if there are none.
  void *getInterface(TypeID id) const {
    for (const InterfaceEntry &one : impl->interfaces)
      if (one.id == id)
        return one.concept_;
    return nullptr;
  }
  template <typename T> bool hasInterface() const {
    return getInterface(T::getInterfaceID());
  }

  bool operator==(OperationName other) const { return impl == other.impl; }

protected:
  explicit OperationName(Impl *impl) : impl(impl) {}
  Impl *getImpl() const { return impl; }

private:
  Impl *impl = nullptr;
};

/// Made by the tool, in more memory than it needs in any version.
class OpPrintingFlags {
public:
  ADBG_STAND_IN OpPrintingFlags() { adbg::tool::makeFlags(&bytes); }

  ADBG_STAND_IN OpPrintingFlags &useLocalScope() {
    return adbg::tool::useLocalScope ? set(adbg::tool::useLocalScope, true)
                                     : set(adbg::tool::useLocalScope19);
  }
  ADBG_STAND_IN OpPrintingFlags &assumeVerified() {
    return adbg::tool::assumeVerified ? set(adbg::tool::assumeVerified, true)
                                      : set(adbg::tool::assumeVerified19);
  }
  ADBG_STAND_IN OpPrintingFlags &skipRegions() {
    return set(adbg::tool::skipRegions, true);
  }
  ADBG_STAND_IN OpPrintingFlags &printGenericOpForm(bool enable = true) {
    isGeneric = enable;
    return set(adbg::tool::printGeneric, enable);
  }
  ADBG_STAND_IN OpPrintingFlags &enableDebugInfo(bool enable = true,
                                                 bool prettyForm = false) {
    return set(adbg::tool::enableDebugInfo, enable, prettyForm);
  }
  ADBG_STAND_IN OpPrintingFlags &elideLargeElementsAttrs(int64_t most = 16) {
    return set(adbg::tool::elideElements, most);
  }
  ADBG_STAND_IN OpPrintingFlags &elideLargeResourceString(int64_t most = 64) {
    return set(adbg::tool::elideResources, most);
  }

  ADBG_STAND_IN bool shouldPrintGenericOpForm() const { return isGeneric; }

  const void *asTool() const { return &bytes; }
  const adbg::tool::FlagsArgument &asArgument() const { return bytes; }

private:
  template <typename... Args>
  ADBG_STAND_IN OpPrintingFlags &set(void (*function)(void *, Args...),
                                     std::type_identity_t<Args>... args) {
    if (function)
      function(&bytes, args...);
    return *this;
  }

  // 48 bytes in LLVM 19 to 22.
  alignas(16) adbg::tool::FlagsArgument bytes = {};
  bool isGeneric = false;
};

struct OperationEquivalence {
  enum Flags { None = 0, IgnoreLocations = 1 };

  /// False if the tool lacks the function.
  ADBG_STAND_IN static bool isEquivalentTo(Operation *op, Operation *other,
                                           Flags flags) {
    return adbg::tool::isEquivalent &&
           adbg::tool::isEquivalent(op, other, flags);
  }
};

} // namespace mlir

template <> struct std::hash<mlir::OperationName> {
  size_t operator()(mlir::OperationName name) const {
    return std::hash<const void *>()(name.getAsOpaquePointer());
  }
};
