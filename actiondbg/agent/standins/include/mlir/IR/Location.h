//===- Location.h - Locations -----------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir {

class Location : public Attribute {
public:
  using Attribute::Attribute;
  explicit Location(Attribute attribute) : Attribute(attribute) {}
};

/// A kind of location, recognized by the name of its class.
template <adbg::AttributeClass kind> class LocationOf : public Location {
public:
  using Location::Location;

  static bool classof(Attribute attribute) {
    return attribute.getImpl()->classOf() == kind &&
           adbg::Layout::provesStorage(kind, attribute.getImpl());
  }
};

using UnknownLoc = LocationOf<adbg::AttributeClass::UnknownLocation>;

/// A file, a line and a column; since LLVM 20 a range of them.
class FileLineColRange : public LocationOf<adbg::AttributeClass::FileLocation> {
public:
  using LocationOf::LocationOf;

  StringAttr getFilename() const { return adbg::tool::fileOf(this); }
  unsigned getStartLine() const { return adbg::tool::lineOf(this); }
  unsigned getStartColumn() const { return adbg::tool::columnOf(this); }
  ADBG_STAND_IN unsigned getEndLine() const {
    return adbg::tool::lastLineOf ? adbg::tool::lastLineOf(this)
                                  : getStartLine();
  }
  ADBG_STAND_IN unsigned getEndColumn() const {
    return adbg::tool::lastColumnOf ? adbg::tool::lastColumnOf(this)
                                    : getStartColumn();
  }
};

class FusedLoc : public LocationOf<adbg::AttributeClass::FusedLocation> {
public:
  using LocationOf::LocationOf;

  ArrayRef<Location> getLocations() const {
    auto *all = static_cast<const adbg::FusedStorage *>(impl);
    return {reinterpret_cast<const Location *>(all->begin), all->size};
  }
};

class CallSiteLoc : public LocationOf<adbg::AttributeClass::CallSiteLocation> {
public:
  using LocationOf::LocationOf;

  Location getCallee() const { return Location(nested().callee); }
  Location getCaller() const { return Location(nested().caller); }

private:
  const adbg::CallSiteStorage &nested() const {
    return *static_cast<const adbg::CallSiteStorage *>(impl);
  }
};

class NameLoc : public LocationOf<adbg::AttributeClass::NameLocation> {
public:
  using LocationOf::LocationOf;

  StringAttr getName() const {
    return StringAttr(static_cast<const adbg::NameStorage *>(impl)->name);
  }
  Location getChildLoc() const {
    return Location(static_cast<const adbg::NameStorage *>(impl)->child);
  }
};

class OpaqueLoc : public LocationOf<adbg::AttributeClass::OpaqueLocation> {
public:
  using LocationOf::LocationOf;

  Location getFallbackLocation() const {
    return Location(static_cast<const adbg::OpaqueStorage *>(impl)->fallback);
  }
};

/// Whether a location is only a file, a line and a column.
inline bool isStrictFileLineColLoc(Location loc) {
  auto place = dyn_cast<FileLineColRange>(loc);
  return place && place.getStartLine() == place.getEndLine() &&
         place.getStartColumn() == place.getEndColumn();
}

} // namespace mlir
