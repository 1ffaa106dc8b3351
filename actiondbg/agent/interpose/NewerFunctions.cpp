//===- NewerFunctions.cpp - Functions of newer versions of MLIR -----------===//
//
// Functions whose arguments changed after LLVM 22. The agent follows the
// ones that the tool has.
//
//===----------------------------------------------------------------------===//

#include "interpose/Interpose.h"
#include "interpose/InterposeIR.h"

using namespace adbg;

extern "C++" {

//===----------------------------------------------------------------------===//
// Operations with properties that know their type
//===----------------------------------------------------------------------===//

namespace {
/// The storage of properties, and the ID of their type. Only passed on.
struct PropertyRef {
  TypeID type;
  void *storage;
};
} // namespace

#define ADBG_CREATE_BY_REFERENCE(ATTRIBUTES)                                   \
  "_ZN4mlir9Operation6createENS_8LocationENS_13OperationNameENS_9TypeRangeE"   \
  "NS_10ValueRangeE" ATTRIBUTES "ENS_11PropertyRefENS_10BlockRangeE"
#define ADBG_CREATE_LIST_BY_REFERENCE                                          \
  ADBG_CREATE_BY_REFERENCE("ONS_13NamedAttrList") "j"
#define ADBG_CREATE_DICTIONARY_BY_REFERENCE                                    \
  ADBG_CREATE_BY_REFERENCE("NS_14DictionaryAttr") "j"
#define ADBG_CREATE_REGIONS_BY_REFERENCE                                       \
  ADBG_CREATE_BY_REFERENCE("ONS_13NamedAttrList") "NS_11RegionRangeE"

ADBG_INTERPOSE(Operation *, createFromListByReference,
               ADBG_CREATE_LIST_BY_REFERENCE, Location loc, OperationName name,
               TypeRange types, ValueRange operands, NamedAttrList &&attributes,
               PropertyRef properties, BlockRange successors,
               unsigned regions) {
  static Original<decltype(createFromListByReference)> next(
      ADBG_CREATE_LIST_BY_REFERENCE);
  return noteNew(next(loc, name, types, operands, std::move(attributes),
                      properties, successors, regions));
}

ADBG_INTERPOSE(Operation *, createFromDictionaryByReference,
               ADBG_CREATE_DICTIONARY_BY_REFERENCE, Location loc,
               OperationName name, TypeRange types, ValueRange operands,
               DictionaryAttr attributes, PropertyRef properties,
               BlockRange successors, unsigned regions) {
  static Original<decltype(createFromDictionaryByReference)> next(
      ADBG_CREATE_DICTIONARY_BY_REFERENCE);
  return noteNew(next(loc, name, types, operands, attributes, properties,
                      successors, regions));
}

ADBG_INTERPOSE(Operation *, createFromRegionsByReference,
               ADBG_CREATE_REGIONS_BY_REFERENCE, Location loc,
               OperationName name, TypeRange types, ValueRange operands,
               NamedAttrList &&attributes, PropertyRef properties,
               BlockRange successors, RegionRange regions) {
  static Original<decltype(createFromRegionsByReference)> next(
      ADBG_CREATE_REGIONS_BY_REFERENCE);
  return noteNew(next(loc, name, types, operands, std::move(attributes),
                      properties, successors, regions));
}

//===----------------------------------------------------------------------===//
// Copies with options by reference
//===----------------------------------------------------------------------===//

#define ADBG_CLONE_BY_REFERENCE "_ZN4mlir9Operation5cloneERKNS0_12CloneOptionsE"
#define ADBG_CLONE_MAPPED_BY_REFERENCE                                         \
  "_ZN4mlir9Operation5cloneERNS_9IRMappingERKNS0_12CloneOptionsE"

ADBG_INTERPOSE(Operation *, cloneByReference, ADBG_CLONE_BY_REFERENCE,
               Operation *self, const void *options) {
  static Original<decltype(cloneByReference)> next(ADBG_CLONE_BY_REFERENCE);
  return runClone(self, [&] { return next(self, options); });
}

ADBG_INTERPOSE(Operation *, cloneMappedByReference,
               ADBG_CLONE_MAPPED_BY_REFERENCE, Operation *self, void *mapping,
               const void *options) {
  static Original<decltype(cloneMappedByReference)> next(
      ADBG_CLONE_MAPPED_BY_REFERENCE);
  return runClone(self, [&] { return next(self, mapping, options); });
}

} // extern "C++"
