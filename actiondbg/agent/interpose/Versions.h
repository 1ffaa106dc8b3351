//===- Versions.h - Differences between LLVM versions -----------*- C++ -*-===//
//
// The only file that depends on the LLVM version of the agent: the mangled
// names of interposed functions, and API differences. A new version of LLVM
// should need changes in this file only.
//
//===----------------------------------------------------------------------===//

#ifndef ACTIONDBG_VERSIONS_H
#define ACTIONDBG_VERSIONS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Config/abi-breaking.h"
#include "llvm/Config/llvm-config.h"

#if LLVM_VERSION_MAJOR < 19
#error "actiondbg needs LLVM 19 or newer"
#endif

// Mangled names in LLVM 22.
#define ADBG_CONTEXT_CTOR "_ZN4mlir11MLIRContextC1ENS0_9ThreadingE"
#define ADBG_CONTEXT_CTOR_REGISTRY                                             \
  "_ZN4mlir11MLIRContextC1ERKNS_15DialectRegistryENS0_9ThreadingE"
#define ADBG_CONTEXT_DTOR "_ZN4mlir11MLIRContextD1Ev"
#define ADBG_DISABLE_THREADING "_ZN4mlir11MLIRContext21disableMultithreadingEb"
#define ADBG_REGISTER_HANDLER                                                  \
  "_ZN4mlir11MLIRContext21registerActionHandlerESt8functionIFvN4llvm12"        \
  "function_refIFvvEEERKNS_7tracing6ActionEEE"
#define ADBG_FOLD                                                              \
  "_ZN4mlir9Operation4foldEN4llvm8ArrayRefINS_9AttributeEEERNS1_15"            \
  "SmallVectorImplINS_12OpFoldResultEEE"
#define ADBG_FOLD_RESULTS                                                      \
  "_ZN4mlir9Operation4foldERN4llvm15SmallVectorImplINS_12OpFoldResultEEE"
#define ADBG_APPLY_TRANSFORM                                                   \
  "_ZN4mlir9transform14TransformState14applyTransformENS0_20"                  \
  "TransformOpInterfaceE"
#define ADBG_MAKE_TRANSFORM_RESULTS "_ZN4mlir9transform16TransformResultsC1Ej"
#define ADBG_EMPTY_TRANSFORM_RESULTS                                           \
  "_ZN4mlir9transform16TransformResults19setRemainingToEmptyENS0_20"           \
  "TransformOpInterfaceE"
#define ADBG_MAP_TRANSFORM_RESULTS                                             \
  "_ZN4mlir9transform14TransformState22updateStateFromResultsERKNS0_16"        \
  "TransformResultsENS_11ResultRangeE"
#define ADBG_MATCH_NOTHING                                                     \
  "_ZN4mlir9transform21MatchOperationEmptyOp14matchOperationESt8optionalIPNS_" \
  "9OperationEERNS0_16TransformResultsERNS0_14TransformStateE"
#define ADBG_DESTROY "_ZN4mlir9Operation7destroyEv"
#define ADBG_REPLACE_VALUES                                                    \
  "_ZN4mlir12RewriterBase9replaceOpEPNS_9OperationENS_10ValueRangeE"
#define ADBG_REPLACE_OP "_ZN4mlir12RewriterBase9replaceOpEPNS_9OperationES2_"
#define ADBG_CREATE_LIST                                                       \
  "_ZN4mlir9Operation6createENS_8LocationENS_13OperationNameENS_9TypeRangeE"   \
  "NS_10ValueRangeEONS_13NamedAttrListENS_16OpaquePropertiesENS_10BlockRange"  \
  "Ej"
#define ADBG_CREATE_DICTIONARY                                                 \
  "_ZN4mlir9Operation6createENS_8LocationENS_13OperationNameENS_9TypeRangeE"   \
  "NS_10ValueRangeENS_14DictionaryAttrENS_16OpaquePropertiesENS_10BlockRange"  \
  "Ej"
#define ADBG_CREATE_STATE "_ZN4mlir9Operation6createERKNS_14OperationStateE"
#define ADBG_CREATE_REGIONS                                                    \
  "_ZN4mlir9Operation6createENS_8LocationENS_13OperationNameENS_9TypeRangeE"   \
  "NS_10ValueRangeEONS_13NamedAttrListENS_16OpaquePropertiesENS_10BlockRange"  \
  "ENS_11RegionRangeE"
#define ADBG_ADD_OPERATION                                                     \
  "_ZN4llvm12ilist_traitsIN4mlir9OperationEE13addNodeToListEPS2_"
#define ADBG_DELETE_OPERATION                                                  \
  "_ZN4llvm12ilist_traitsIN4mlir9OperationEE10deleteNodeEPS2_"
#define ADBG_ERASE "_ZN4mlir9Operation5eraseEv"
#define ADBG_MOVE_BEFORE "_ZN4mlir9Operation10moveBeforeEPS0_"
#define ADBG_MOVE_AFTER "_ZN4mlir9Operation9moveAfterEPS0_"
#define ADBG_ADD_BLOCK                                                         \
  "_ZN4llvm12ilist_traitsIN4mlir5BlockEE13addNodeToListEPS2_"
#define ADBG_REMOVE_BLOCK                                                      \
  "_ZN4llvm12ilist_traitsIN4mlir5BlockEE18removeNodeFromListEPS2_"
// List nodes know whether they are the sentinel only in builds with
// ABI-breaking checks.
#if LLVM_ENABLE_ABI_BREAKING_CHECKS
#define ADBG_NODE_CHECKS "1"
#else
#define ADBG_NODE_CHECKS "0"
#endif
#define ADBG_TRANSFER(NODE)                                                    \
  "_ZN4llvm12ilist_traitsIN4mlir" NODE "EE21transferNodesFromListERS3_NS_14"   \
  "ilist_iteratorINS_12ilist_detail12node_optionsIS2_Lb" ADBG_NODE_CHECKS      \
  "ELb0EvLb0EvEELb0ELb0EEES9_"
#define ADBG_PLACE                                                             \
  "EPNS_5BlockEN4llvm14ilist_iteratorINS3_12ilist_detail12node_optionsIS0_"    \
  "Lb" ADBG_NODE_CHECKS "ELb0EvLb0EvEELb0ELb0EEE"
#define ADBG_MOVE_BEFORE_IN "_ZN4mlir9Operation10moveBefore" ADBG_PLACE
#define ADBG_MOVE_AFTER_IN "_ZN4mlir9Operation9moveAfter" ADBG_PLACE
#define ADBG_CLONE_INTO                                                        \
  "_ZN4mlir6Region9cloneIntoEPS0_N4llvm14ilist_iteratorINS2_12ilist_detail12"  \
  "node_optionsINS_5BlockELb" ADBG_NODE_CHECKS                                 \
  "ELb0EvLb0EvEELb0ELb0EEERNS_9IRMappingE"
#define ADBG_CLONE "_ZN4mlir9Operation5cloneENS0_12CloneOptionsE"
#define ADBG_CLONE_MAPPED                                                      \
  "_ZN4mlir9Operation5cloneERNS_9IRMappingENS0_12CloneOptionsE"
#define ADBG_CLONE_BARE "_ZN4mlir9Operation19cloneWithoutRegionsEv"
#define ADBG_CLONE_BARE_MAPPED                                                 \
  "_ZN4mlir9Operation19cloneWithoutRegionsERNS_9IRMappingE"
#define ADBG_TRANSFER_OPERATIONS ADBG_TRANSFER("9Operation")
#define ADBG_TRANSFER_BLOCKS ADBG_TRANSFER("5Block")
#define ADBG_REPLACE_USES_VALUES                                               \
  "_ZN4mlir12RewriterBase20replaceAllOpUsesWithEPNS_9OperationENS_10"          \
  "ValueRangeE"
#define ADBG_REPLACE_USES_OP                                                   \
  "_ZN4mlir12RewriterBase20replaceAllOpUsesWithEPNS_9OperationES2_"
#define ADBG_FINALIZE_MODIFICATION                                             \
  "_ZN4mlir12RewriterBase22finalizeOpModificationEPNS_9OperationE"
#define ADBG_MATCH_AND_REWRITE                                                 \
  "_ZN4mlir17PatternApplicator15matchAndRewriteEPNS_9OperationERNS_15"         \
  "PatternRewriterEN4llvm12function_refIFbRKNS_7PatternEEEENS6_IFvS9_EEENS6_"  \
  "IFNS5_13LogicalResultES9_EEE"
#define ADBG_COST_MODEL                                                        \
  "_ZN4mlir17PatternApplicator14applyCostModelEN4llvm12function_refIFNS_14"    \
  "PatternBenefitERKNS_7PatternEEEE"
#define ADBG_RUN_PASSES "_ZN4mlir11PassManager3runEPNS_9OperationE"
#define ADBG_CONVERSION_REPLACE_VALUES                                         \
  "_ZN4mlir25ConversionPatternRewriter9replaceOpEPNS_9OperationENS_10"         \
  "ValueRangeE"
#define ADBG_CONVERSION_REPLACE_OP                                             \
  "_ZN4mlir25ConversionPatternRewriter9replaceOpEPNS_9OperationES2_"
#define ADBG_CONVERSION_REPLACE_MANY                                           \
  "_ZN4mlir25ConversionPatternRewriter21replaceOpWithMultipleEPNS_9Operation"  \
  "EON4llvm11SmallVectorINS4_INS_5ValueELj6EEELj1EEE"
#define ADBG_GREEDY(NAME)                                                      \
  "_ZN4mlir" NAME                                                              \
  "ERNS_6RegionERKNS_23FrozenRewritePatternSetENS_19GreedyRewriteConfigEPb"
#define ADBG_GREEDY_REGION_TO_19 ADBG_GREEDY("28applyPatternsAndFoldGreedily")
#if LLVM_VERSION_MAJOR >= 20
#define ADBG_GREEDY_REGION ADBG_GREEDY("21applyPatternsGreedily")
#else
#define ADBG_GREEDY_REGION ADBG_GREEDY_REGION_TO_19
#endif
// The printer of one attribute became virtual.
#if LLVM_VERSION_MAJOR >= 21
#define ADBG_OVERRIDE_SINCE_21 override
#else
#define ADBG_OVERRIDE_SINCE_21
#endif
// Before, the only list of passes is in the help of a program.
#define ADBG_LISTS_PASSES (LLVM_VERSION_MAJOR >= 20)
#define ADBG_VERIFY "_ZN4mlir6verifyEPNS_9OperationEb"
#define ADBG_REPORT "_ZN4mlir18InFlightDiagnostic6reportEv"
#define ADBG_EMIT "_ZN4mlir16DiagnosticEngine4emitEONS_10DiagnosticE"
#define ADBG_EMIT_ERROR "_ZN4mlir9Operation9emitErrorERKN4llvm5TwineE"
#define ADBG_EMIT_OP_ERROR "_ZN4mlir9Operation11emitOpErrorERKN4llvm5TwineE"
#define ADBG_EMIT_WARNING "_ZN4mlir9Operation11emitWarningERKN4llvm5TwineE"
#define ADBG_EMIT_REMARK "_ZN4mlir9Operation10emitRemarkERKN4llvm5TwineE"
#define ADBG_PARSE_TEXT                                                        \
  "_ZN4mlir18parseAsmSourceFileERKN4llvm9SourceMgrEPNS_5BlockERKNS_12"         \
  "ParserConfigEPNS_14AsmParserStateEPNS_28AsmParserCodeCompleteContextE"
// Methods of AsmParserState.
#define ADBG_MAKE_NOTES "_ZN4mlir14AsmParserStateC1Ev"
#define ADBG_DROP_NOTES "_ZN4mlir14AsmParserStateD1Ev"
#define ADBG_NOTE_ROOT "_ZN4mlir14AsmParserState10initializeEPNS_9OperationE"
#define ADBG_NOTE_BEGIN                                                        \
  "_ZN4mlir14AsmParserState24startOperationDefinitionERKNS_13OperationNameE"
#define ADBG_NOTE_OPERATION                                                    \
  "_ZN4mlir14AsmParserState27finalizeOperationDefinitionEPNS_9OperationEN4"    \
  "llvm7SMRangeENS3_5SMLocENS3_8ArrayRefISt4pairIjS5_EEE"
#define ADBG_NOTE_REGION "_ZN4mlir14AsmParserState21startRegionDefinitionEv"
#define ADBG_NOTE_BLOCK                                                        \
  "_ZN4mlir14AsmParserState13addDefinitionEPNS_5BlockEN4llvm5SMLocE"
#define ADBG_NOTE_ARGUMENT                                                     \
  "_ZN4mlir14AsmParserState13addDefinitionENS_13BlockArgumentEN4llvm5SMLocE"
#define ADBG_NOTE_USES                                                         \
  "_ZN4mlir14AsmParserState7addUsesENS_5ValueEN4llvm8ArrayRefINS2_5SMLocEEE"
#define ADBG_NOTE_BLOCK_USES                                                   \
  "_ZN4mlir14AsmParserState7addUsesEPNS_5BlockEN4llvm8ArrayRefINS3_5SMLocEEE"
#define ADBG_NOTE_SYMBOL_USES                                                  \
  "_ZN4mlir14AsmParserState7addUsesENS_13SymbolRefAttrEN4llvm8ArrayRefINS2_"   \
  "7SMRangeEEE"
#define ADBG_NOTE_ALIAS_USES                                                   \
  "_ZN4mlir14AsmParserState16addAttrAliasUsesEN4llvm9StringRefENS1_7SMRangeE"
#define ADBG_FROZEN_PATTERNS                                                   \
  "_ZN4mlir23FrozenRewritePatternSetC1EONS_17RewritePatternSetEN4llvm8"        \
  "ArrayRefINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEESB_"
#define ADBG_CONVERSION_ARGUMENTS                                              \
  "RKNS_16ConversionTargetERKNS_23FrozenRewritePatternSetENS_16Conversion"     \
  "ConfigE"
#define ADBG_PARTIAL_CONVERSION                                                \
  "_ZN4mlir22applyPartialConversionEPNS_9OperationE" ADBG_CONVERSION_ARGUMENTS
#define ADBG_PARTIAL_CONVERSION_MANY                                           \
  "_ZN4mlir22applyPartialConversionEN4llvm8ArrayRefIPNS_"                      \
  "9OperationEEE" ADBG_CONVERSION_ARGUMENTS
#define ADBG_FULL_CONVERSION                                                   \
  "_ZN4mlir19applyFullConversionEPNS_9OperationE" ADBG_CONVERSION_ARGUMENTS
#define ADBG_FULL_CONVERSION_MANY                                              \
  "_ZN4mlir19applyFullConversionEN4llvm8ArrayRefIPNS_"                         \
  "9OperationEEE" ADBG_CONVERSION_ARGUMENTS
#define ADBG_CONVERT_TYPE "_ZNK4mlir13TypeConverter11convertTypeENS_4TypeE"
#define ADBG_CONVERT_TYPE_MANY                                                 \
  "_ZNK4mlir13TypeConverter11convertTypeENS_4TypeERN4llvm15SmallVectorImplI"   \
  "S1_EE"
#define ADBG_CONVERT_VALUE_TYPE                                                \
  "_ZNK4mlir13TypeConverter11convertTypeENS_5ValueE"
#define ADBG_CONVERT_VALUE_TYPE_MANY                                           \
  "_ZNK4mlir13TypeConverter11convertTypeENS_5ValueERN4llvm15SmallVector"       \
  "ImplINS_4TypeEEE"

namespace adbg {

/// A file location; lines and columns count from 1.
struct FilePlace {
  mlir::StringAttr file;
  unsigned line;
  unsigned column;
  unsigned lastLine;
};

/// Returns `loc` itself as a file location, if it is one.
inline std::optional<FilePlace> asFilePlace(mlir::Location loc) {
#if LLVM_VERSION_MAJOR >= 20
  // Since LLVM 20 a FileLineColLoc is a range of one line and column.
  if (auto range = llvm::dyn_cast<mlir::FileLineColRange>(loc))
    return FilePlace{range.getFilename(), range.getStartLine(),
                     range.getStartColumn(), range.getEndLine()};
#else
  if (auto point = llvm::dyn_cast<mlir::FileLineColLoc>(loc))
    return FilePlace{point.getFilename(), point.getLine(), point.getColumn(),
                     point.getLine()};
#endif
  return std::nullopt;
}

/// Whether `loc` consists of only a file, a line and a column.
inline bool isPoint(mlir::Location loc) {
#if LLVM_VERSION_MAJOR >= 20
  return mlir::isStrictFileLineColLoc(loc);
#else
  return llvm::isa<mlir::FileLineColLoc>(loc);
#endif
}

/// Copies the properties of an operation of the same name.
template <typename Op> void copyProperties(Op *to, Op *from) {
#ifdef ADBG_PORTABLE
  to->copyPropertiesOf(from);
#else
  to->copyProperties(from->getPropertiesStorage());
#endif
}

} // namespace adbg

#endif // ACTIONDBG_VERSIONS_H
