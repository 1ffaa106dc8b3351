//===- Versions.h - Differences between LLVM versions -----------*- C++ -*-===//
//
// The mangled names of interposed functions. Those that the agent only calls
// are in layout/ToolFunctions.h.
//
//===----------------------------------------------------------------------===//

#pragma once

// Mangled names in LLVM 22.
#define ADBG_CONTEXT_CTOR "_ZN4mlir11MLIRContextC1ENS0_9ThreadingE"
#define ADBG_CONTEXT_CTOR_REGISTRY                                             \
  "_ZN4mlir11MLIRContextC1ERKNS_15DialectRegistryENS0_9ThreadingE"
#define ADBG_CONTEXT_DTOR "_ZN4mlir11MLIRContextD1Ev"
#define ADBG_DISABLE_THREADING "_ZN4mlir11MLIRContext21disableMultithreadingEb"
#define ADBG_RUN_ON_THREAD                                                     \
  "_ZN4llvm20CrashRecoveryContext17RunSafelyOnThreadENS_12function_refIFvvEEE" \
  "j"
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
// Called before an action is dispatched, and to dispatch it.
#define ADBG_HAS_HANDLER "_ZN4mlir11MLIRContext16hasActionHandlerEv"
#define ADBG_EXECUTE                                                           \
  "_ZN4mlir11MLIRContext21executeActionInternalEN4llvm12function_"             \
  "refIFvvEEERKNS_7tracing6ActionE"
#define ADBG_DESTROY "_ZN4mlir9Operation7destroyEv"
#define ADBG_REPLACE_VALUES                                                    \
  "_ZN4mlir12RewriterBase9replaceOpEPNS_9OperationENS_10ValueRangeE"
#define ADBG_REPLACE_OP "_ZN4mlir12RewriterBase9replaceOpEPNS_9OperationES2_"
#define ADBG_CREATE(ATTRIBUTES, PROPERTIES, REGIONS)                           \
  "_ZN4mlir9Operation6createENS_8LocationENS_13OperationNameENS_9TypeRangeE"   \
  "NS_10ValueRangeE" ATTRIBUTES "E" PROPERTIES "ENS_10BlockRangeE" REGIONS
#define ADBG_CREATE_LIST                                                       \
  ADBG_CREATE("ONS_13NamedAttrList", "NS_16OpaqueProperties", "j")
#define ADBG_CREATE_DICTIONARY                                                 \
  ADBG_CREATE("NS_14DictionaryAttr", "NS_16OpaqueProperties", "j")
#define ADBG_CREATE_REGIONS                                                    \
  ADBG_CREATE("ONS_13NamedAttrList", "NS_16OpaqueProperties",                  \
              "NS_11RegionRangeE")
// Since LLVM 23.
#define ADBG_CREATE_LIST_BY_REFERENCE                                          \
  ADBG_CREATE("ONS_13NamedAttrList", "NS_11PropertyRef", "j")
#define ADBG_CREATE_DICTIONARY_BY_REFERENCE                                    \
  ADBG_CREATE("NS_14DictionaryAttr", "NS_11PropertyRef", "j")
#define ADBG_CREATE_REGIONS_BY_REFERENCE                                       \
  ADBG_CREATE("ONS_13NamedAttrList", "NS_11PropertyRef", "NS_11RegionRangeE")
#define ADBG_CREATE_STATE "_ZN4mlir9Operation6createERKNS_14OperationStateE"
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
// Nodes of lists have other classes in other builds: see Hooks.cpp.
#define ADBG_TRANSFER(NODE)                                                    \
  "_ZN4llvm12ilist_traitsIN4mlir" NODE "EE21transferNodesFromListERS3_NS_14"   \
  "ilist_iteratorINS_12ilist_detail12node_optionsIS2_Lb0"                      \
  "ELb0EvLb0EvEELb0ELb0EEES9_"
#define ADBG_PLACE                                                             \
  "N4llvm14ilist_iteratorINS3_12ilist_detail12node_optionsIS0_"                \
  "Lb0ELb0EvLb0EvEELb0ELb0EEE"
#define ADBG_MOVE_BEFORE_IN                                                    \
  "_ZN4mlir9Operation10moveBeforeEPNS_5BlockE" ADBG_PLACE
#define ADBG_MOVE_AFTER_IN "_ZN4mlir9Operation9moveAfterEPNS_5BlockE" ADBG_PLACE
#define ADBG_CLONE_INTO                                                        \
  "_ZN4mlir6Region9cloneIntoEPS0_N4llvm14ilist_iteratorINS2_12ilist_detail12"  \
  "node_optionsINS_5BlockELb0"                                                 \
  "ELb0EvLb0EvEELb0ELb0EEERNS_9IRMappingE"
#define ADBG_CLONE "_ZN4mlir9Operation5cloneENS0_12CloneOptionsE"
#define ADBG_CLONE_MAPPED                                                      \
  "_ZN4mlir9Operation5cloneERNS_9IRMappingENS0_12CloneOptionsE"
#define ADBG_CLONE_BARE "_ZN4mlir9Operation19cloneWithoutRegionsEv"
#define ADBG_CLONE_BARE_MAPPED                                                 \
  "_ZN4mlir9Operation19cloneWithoutRegionsERNS_9IRMappingE"
// Since LLVM 23 the options are passed by reference.
#define ADBG_CLONE_BY_REFERENCE "_ZN4mlir9Operation5cloneERKNS0_12CloneOptionsE"
#define ADBG_CLONE_MAPPED_BY_REFERENCE                                         \
  "_ZN4mlir9Operation5cloneERNS_9IRMappingERKNS0_12CloneOptionsE"
#define ADBG_TRANSFER_OPERATIONS ADBG_TRANSFER("9Operation")
#define ADBG_TRANSFER_BLOCKS ADBG_TRANSFER("5Block")
#define ADBG_REPLACE_USES_VALUES                                               \
  "_ZN4mlir12RewriterBase20replaceAllOpUsesWithEPNS_9OperationENS_10"          \
  "ValueRangeE"
#define ADBG_REPLACE_USES_OP                                                   \
  "_ZN4mlir12RewriterBase20replaceAllOpUsesWithEPNS_9OperationES2_"
#define ADBG_FINALIZE_MODIFICATION                                             \
  "_ZN4mlir12RewriterBase22finalizeOpModificationEPNS_9OperationE"
// In builds before LogicalResult moved to LLVM, in LLVM 19, with "NS" for
// "NS5".
#define ADBG_MATCH_AND_REWRITE_TO(RESULT)                                      \
  "_ZN4mlir17PatternApplicator15matchAndRewriteEPNS_9OperationERNS_15"         \
  "PatternRewriterEN4llvm12function_refIFbRKNS_7PatternEEEENS6_IFvS9_EEENS6_"  \
  "IF" RESULT "_13LogicalResultES9_EEE"
#define ADBG_MATCH_AND_REWRITE ADBG_MATCH_AND_REWRITE_TO("NS5")
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
#define ADBG_GREEDY_REGION ADBG_GREEDY("21applyPatternsGreedily")
#define ADBG_VERIFY "_ZN4mlir6verifyEPNS_9OperationEb"
#define ADBG_REPORT "_ZN4mlir18InFlightDiagnostic6reportEv"
#define ADBG_EMIT "_ZN4mlir16DiagnosticEngine4emitEONS_10DiagnosticE"
#define ADBG_EMIT_ERROR "_ZN4mlir9Operation9emitErrorERKN4llvm5TwineE"
#define ADBG_EMIT_OP_ERROR "_ZN4mlir9Operation11emitOpErrorERKN4llvm5TwineE"
#define ADBG_EMIT_WARNING "_ZN4mlir9Operation11emitWarningERKN4llvm5TwineE"
#define ADBG_EMIT_REMARK "_ZN4mlir9Operation10emitRemarkERKN4llvm5TwineE"
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
// Before there were configurations, in LLVM 19.
#define ADBG_PARTIAL_CONVERSION_TO_18                                          \
  "_ZN4mlir22applyPartialConversionEPNS_9OperationERKNS_16ConversionTarget"    \
  "ERKNS_23FrozenRewritePatternSetEPN4llvm8DenseSetIS1_NS8_12DenseMapInfoI"    \
  "S1_vEEEE"
#define ADBG_PARTIAL_CONVERSION_MANY_TO_18                                     \
  "_ZN4mlir22applyPartialConversionEN4llvm8ArrayRefIPNS_9OperationEEERKNS_16"  \
  "ConversionTargetERKNS_23FrozenRewritePatternSetEPNS0_8DenseSetIS3_NS0_12"   \
  "DenseMapInfoIS3_vEEEE"
#define ADBG_FULL_CONVERSION_TO_18                                             \
  "_ZN4mlir19applyFullConversionEPNS_9OperationERKNS_16ConversionTargetERKNS_" \
  "23FrozenRewritePatternSetE"
#define ADBG_FULL_CONVERSION_MANY_TO_18                                        \
  "_ZN4mlir19applyFullConversionEN4llvm8ArrayRefIPNS_9OperationEEERKNS_16"     \
  "ConversionTargetERKNS_23FrozenRewritePatternSetE"
#define ADBG_CONVERT_TYPE "_ZNK4mlir13TypeConverter11convertTypeENS_4TypeE"
#define ADBG_CONVERT_TYPE_MANY                                                 \
  "_ZNK4mlir13TypeConverter11convertTypeENS_4TypeERN4llvm15SmallVectorImplI"   \
  "S1_EE"
#define ADBG_CONVERT_VALUE_TYPE                                                \
  "_ZNK4mlir13TypeConverter11convertTypeENS_5ValueE"
/// Since LLVM 22 the others call this one; since LLVM 24 it is inline in them.
#define ADBG_CONVERT_TYPE_OR_VALUE                                             \
  "_ZNK4mlir13TypeConverter15convertTypeImplEN4llvm12PointerUnionIJNS_4TypeE"  \
  "NS_5ValueEEEERNS1_15SmallVectorImplIS3_EE"
#define ADBG_CONVERT_VALUE_TYPE_MANY                                           \
  "_ZNK4mlir13TypeConverter11convertTypeENS_5ValueERN4llvm15SmallVector"       \
  "ImplINS_4TypeEEE"
