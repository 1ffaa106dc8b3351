//===- ToolFunctions.h - Functions of the tool's MLIR -----------*- C++ -*-===//
//
// The functions that the agent calls in the tool, by their mangled names. The
// names of functions that the agent also replaces are in Versions.h. The
// symbols are weak: a function that the tool lacks is null, and what needs the
// function is done in another way or not at all.
//
// Member functions are declared as functions of an object: both are called in
// the same way.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "interpose/Versions.h"
#include "support/LLVM.h"

namespace adbg::tool {

#define ADBG_TOOL(SYMBOL) __asm__(SYMBOL) __attribute__((weak))

/// For a stand-in's member that has the name of the tool's: were it not inlined
/// everywhere, it would be found in its place.
#define ADBG_STAND_IN __attribute__((always_inline))

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void deleteArray(void *memory) ADBG_TOOL("_ZdaPv");
void deleteOne(void *memory) ADBG_TOOL("_ZdlPv");

//===----------------------------------------------------------------------===//
// Printing. A `void *` is an object whose layout only the tool knows.
//===----------------------------------------------------------------------===//

void makeFlags(void *flags) ADBG_TOOL("_ZN4mlir15OpPrintingFlagsC1Ev");
void useLocalScope(void *flags, bool enable)
    ADBG_TOOL("_ZN4mlir15OpPrintingFlags13useLocalScopeEb");
// Until LLVM 19 some of them took no argument.
void useLocalScope19(void *flags)
    ADBG_TOOL("_ZN4mlir15OpPrintingFlags13useLocalScopeEv");
void assumeVerified(void *flags, bool enable)
    ADBG_TOOL("_ZN4mlir15OpPrintingFlags14assumeVerifiedEb");
void assumeVerified19(void *flags)
    ADBG_TOOL("_ZN4mlir15OpPrintingFlags14assumeVerifiedEv");
void skipRegions(void *flags, bool skip)
    ADBG_TOOL("_ZN4mlir15OpPrintingFlags11skipRegionsEb");
void printGeneric(void *flags, bool enable)
    ADBG_TOOL("_ZN4mlir15OpPrintingFlags18printGenericOpFormEb");
void enableDebugInfo(void *flags, bool enable, bool isPretty)
    ADBG_TOOL("_ZN4mlir15OpPrintingFlags15enableDebugInfoEbb");
void elideElements(void *flags, int64_t most)
    ADBG_TOOL("_ZN4mlir15OpPrintingFlags23elideLargeElementsAttrsEl");
void elideResources(void *flags, int64_t most)
    ADBG_TOOL("_ZN4mlir15OpPrintingFlags24elideLargeResourceStringEl");
bool printsGeneric(const void *flags)
    ADBG_TOOL("_ZNK4mlir15OpPrintingFlags24shouldPrintGenericOpFormEv");

void makeState(void *state, Operation *op, const void *flags, void *locations,
               void *resources)
    ADBG_TOOL("_ZN4mlir8AsmStateC1EPNS_9OperationERKNS_15OpPrintingFlagsEPN4"
              "llvm8DenseMapIS2_St4pairIjjENS6_12DenseMapInfoIS2_vEENS6_6detail"
              "12DenseMapPairIS2_S9_EEEEPNS_22FallbackAsmResourceMapE");
void makeContextState(void *state, MLIRContext *context, const void *flags,
                      void *locations, void *resources)
    ADBG_TOOL("_ZN4mlir8AsmStateC1EPNS_11MLIRContextERKNS_15OpPrintingFlagsEPN"
              "4llvm8DenseMapIPNS_9OperationESt4pairIjjENS6_12DenseMapInfoIS9_"
              "vEENS6_6detail12DenseMapPairIS9_SB_EEEEPNS_22FallbackAsm"
              "ResourceMapE");
void endState(void *state) ADBG_TOOL("_ZN4mlir8AsmStateD1Ev");
const void *flagsOfState(const void *state)
    ADBG_TOOL("_ZNK4mlir8AsmState15getPrinterFlagsEv");

/// Flags that are passed by value: on the stack, behind which there may be
/// more.
struct FlagsArgument {
  char memory[256];
};
void printUnit(const void *unit, raw_ostream &os, FlagsArgument flags)
    ADBG_TOOL("_ZNK4mlir6IRUnit5printERN4llvm11raw_ostreamENS_15"
              "OpPrintingFlagsE");
void printOperation(Operation *op, raw_ostream &os, const void *flags)
    ADBG_TOOL("_ZN4mlir9Operation5printERN4llvm11raw_ostreamERKNS_15"
              "OpPrintingFlagsE");
void printOperationIn(Operation *op, raw_ostream &os, void *state)
    ADBG_TOOL("_ZN4mlir9Operation5printERN4llvm11raw_ostreamERNS_8AsmStateE");
void printBlock(Block *block, raw_ostream &os)
    ADBG_TOOL("_ZN4mlir5Block5printERN4llvm11raw_ostreamE");
void printBlockIn(Block *block, raw_ostream &os, void *state)
    ADBG_TOOL("_ZN4mlir5Block5printERN4llvm11raw_ostreamERNS_8AsmStateE");
// A value, an attribute and a type are one pointer: passed by its address.
void printValue(const void *value, raw_ostream &os, const void *flags)
    ADBG_TOOL("_ZNK4mlir5Value5printERN4llvm11raw_ostreamERKNS_15"
              "OpPrintingFlagsE");
void printOperand(const void *value, raw_ostream &os, void *state)
    ADBG_TOOL("_ZNK4mlir5Value14printAsOperandERN4llvm11raw_ostreamERNS_8"
              "AsmStateE");
void printOperandWith(const void *value, raw_ostream &os, const void *flags)
    ADBG_TOOL("_ZNK4mlir5Value14printAsOperandERN4llvm11raw_ostreamERKNS_15"
              "OpPrintingFlagsE");
void printAttribute(const void *attribute, raw_ostream &os, bool elidesType)
    ADBG_TOOL("_ZNK4mlir9Attribute5printERN4llvm11raw_ostreamEb");
void printAttributeIn(const void *attribute, raw_ostream &os, void *state,
                      bool elidesType)
    ADBG_TOOL("_ZNK4mlir9Attribute5printERN4llvm11raw_ostreamERNS_8AsmStateEb");
void printType(const void *type, raw_ostream &os)
    ADBG_TOOL("_ZNK4mlir4Type5printERN4llvm11raw_ostreamE");
/// The text ends with a null character.
const void *parseType(StringRef text, MLIRContext *context,
                      size_t *charactersRead, bool isTerminated)
    ADBG_TOOL("_ZN4mlir9parseTypeEN4llvm9StringRefEPNS_11MLIRContextEPmb");
void walkSubElements(const void *kind, const void *type,
                     function_ref<void(Attribute)> attributes,
                     function_ref<void(Type)> types)
    ADBG_TOOL("_ZNK4mlir12AbstractType24walkImmediateSubElementsENS_4TypeEN4"
              "llvm12function_refIFvNS_9AttributeEEEENS3_IFvS1_EEE");
void printTypeIn(const void *type, raw_ostream &os, void *state)
    ADBG_TOOL("_ZNK4mlir4Type5printERN4llvm11raw_ostreamERNS_8AsmStateE");

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Operation *parentOfBlock(Block *block)
    ADBG_TOOL("_ZN4mlir5Block11getParentOpEv");
std::optional<Attribute> inherentAttribute(Operation *op, StringRef name)
    ADBG_TOOL("_ZN4mlir9Operation15getInherentAttrEN4llvm9StringRefE");
LogicalResult verify(Operation *op, bool isRecursive) ADBG_TOOL(ADBG_VERIFY);
size_t hashProperties(Operation *op)
    ADBG_TOOL("_ZN4mlir9Operation14hashPropertiesEv");
Attribute propertiesOf(Operation *op)
    ADBG_TOOL("_ZN4mlir9Operation24getPropertiesAsAttributeEv");
DictionaryAttr attributesOf(Operation *op)
    ADBG_TOOL("_ZN4mlir9Operation17getAttrDictionaryEv");
bool isEquivalent(Operation *op, Operation *other, unsigned flags) ADBG_TOOL(
    "_ZN4mlir20OperationEquivalence14isEquivalentToEPNS_9OperationES2_"
    "NS0_5FlagsE");
void makeName(void *name, StringRef text, MLIRContext *context)
    ADBG_TOOL("_ZN4mlir13OperationNameC1EN4llvm9StringRefEPNS_11MLIRContextE");
TypeID registerTypeID(StringRef spelling)
    ADBG_TOOL("_ZN4mlir6detail22FallbackTypeIDResolver22registerImplicitTypeID"
              "EN4llvm9StringRefE");
ArrayRef<OperationName> registeredOperations(MLIRContext *context)
    ADBG_TOOL("_ZN4mlir11MLIRContext23getRegisteredOperationsEv");
MLIRContext *contextOf(const void *attribute)
    ADBG_TOOL("_ZNK4mlir9Attribute10getContextEv");
/// The ID of `void`, which operations have that are not registered.
extern const char voidID ADBG_TOOL("_ZN4mlir6detail14TypeIDResolverIvvE2idE");
bool isThreaded(MLIRContext *context)
    ADBG_TOOL("_ZN4mlir11MLIRContext23isMultithreadingEnabledEv");

/// Functions of the class of listeners of rewriters, which few listeners
/// override.
void notifyPatternBegin(void *self) ADBG_TOOL(
    "_ZN4mlir12RewriterBase8Listener18notifyPatternBeginERKNS_7Pattern"
    "EPNS_9OperationE");
void notifyMatchFailure(void *self)
    ADBG_TOOL("_ZN4mlir12RewriterBase8Listener18notifyMatchFailureENS_8Location"
              "EN4llvm12function_refIFvRNS_10DiagnosticEEEE");
/// Of builds before LogicalResult moved to LLVM, in LLVM 19.
void matchAndRewriteTo19(void *self) ADBG_TOOL(ADBG_MATCH_AND_REWRITE_TO("NS"));

//===----------------------------------------------------------------------===//
// Locations, each passed by its address
//===----------------------------------------------------------------------===//

StringAttr fileOf(const void *loc)
    ADBG_TOOL("_ZNK4mlir14FileLineColLoc11getFilenameEv");
unsigned lineOf(const void *loc)
    ADBG_TOOL("_ZNK4mlir14FileLineColLoc7getLineEv");
unsigned columnOf(const void *loc)
    ADBG_TOOL("_ZNK4mlir14FileLineColLoc9getColumnEv");
unsigned lastLineOf(const void *loc)
    ADBG_TOOL("_ZNK4mlir16FileLineColRange10getEndLineEv");
unsigned lastColumnOf(const void *loc)
    ADBG_TOOL("_ZNK4mlir16FileLineColRange12getEndColumnEv");

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

void printPipeline(void *pass, raw_ostream &os)
    ADBG_TOOL("_ZN4mlir4Pass22printAsTextualPipelineERN4llvm11raw_ostreamE");
void printPipelinePretty(void *pass, raw_ostream &os, bool isPretty)
    ADBG_TOOL("_ZN4mlir4Pass22printAsTextualPipelineERN4llvm11raw_ostreamEb");

LogicalResult parsePipeline(StringRef text, void *manager, raw_ostream &os)
    ADBG_TOOL("_ZN4mlir17parsePassPipelineEN4llvm9StringRefERNS_13OpPassManager"
              "ERNS0_11raw_ostreamE");
void makeManager(void *manager, const void *operationName, int nesting)
    ADBG_TOOL("_ZN4mlir11PassManagerC1ENS_13OperationNameENS_13OpPassManager7"
              "NestingE");
void endManager(void *manager) ADBG_TOOL("_ZN4mlir11PassManagerD1Ev");
LogicalResult runManager(void *manager, Operation *op)
    ADBG_TOOL(ADBG_RUN_PASSES);
/// Returns null if no pass has this argument.
const void *findPass(StringRef argument)
    ADBG_TOOL("_ZN4mlir8PassInfo6lookupEN4llvm9StringRefE");
void registerPass(const std::function<std::unique_ptr<Pass>()> &factory)
    ADBG_TOOL("_ZN4mlir12registerPassERKSt8functionIFSt10unique_ptrINS_4PassESt"
              "14default_deleteIS2_EEvEE");
void printPasses() ADBG_TOOL("_ZN4mlir21printRegisteredPassesEv");
void enterThreads(MLIRContext *context)
    ADBG_TOOL("_ZN4mlir11MLIRContext27enterMultiThreadedExecutionEv");
void exitThreads(MLIRContext *context)
    ADBG_TOOL("_ZN4mlir11MLIRContext26exitMultiThreadedExecutionEv");
/// An AnalysisManager is one pointer, to such a map.
void invalidateAnalyses(void *analyses, const void *preserved)
    ADBG_TOOL("_ZN4mlir6detail17NestedAnalysisMap10invalidateERKNS0_17"
              "PreservedAnalysesE");
void *nestAnalyses(void *manager, Operation *op)
    ADBG_TOOL("_ZN4mlir15AnalysisManager4nestEPNS_9OperationE");
/// Larger than it is in any version.
struct InFlight {
  alignas(16) char memory[1024];
};
/// The text of a diagnostic; in later versions with room for one more word.
void printDiagnostic(const void *diagnostic, raw_ostream &os)
    ADBG_TOOL("_ZNK4mlir10Diagnostic5printERN4llvm11raw_ostreamE");
void printDiagnosticWith(const void *diagnostic, raw_ostream &os,
                         std::optional<int64_t> number)
    ADBG_TOOL(
        "_ZNK4mlir10Diagnostic5printERN4llvm11raw_ostreamESt8optionalIlE");
InFlight emitError(const void *loc, const void *twine)
    ADBG_TOOL("_ZN4mlir9emitErrorENS_8LocationERKN4llvm5TwineE");
void reportDiagnostic(void *inFlight) ADBG_TOOL(ADBG_REPORT);

/// The stream to standard output: it may hold text.
raw_ostream &output() ADBG_TOOL("_ZN4llvm4outsEv");
/// Removes the files that the tool is writing.
void runInterruptHandlers() ADBG_TOOL("_ZN4llvm3sys20RunInterruptHandlersEv");
/// The context around this thread that recovers from a crash; null for none.
void *crashRecovery() ADBG_TOOL("_ZN4llvm20CrashRecoveryContext10GetCurrentEv");
/// Runs a function in a context that recovers from its crash.
bool runSafely(void *recovery, function_ref<void()> run)
    ADBG_TOOL("_ZN4llvm20CrashRecoveryContext9RunSafelyENS_12function_refIFvvEE"
              "E");

//===----------------------------------------------------------------------===//
// Changes of IR
//===----------------------------------------------------------------------===//

LogicalResult parseSource(StringRef text, Block *block, const void *config,
                          StringRef name, void *location)
    ADBG_TOOL("_ZN4mlir17parseSourceStringEN4llvm9StringRefEPNS_5BlockERKNS_12"
              "ParserConfigES1_PNS_12LocationAttrE");
Operation *makeModule(const void *loc, std::optional<StringRef> name)
    ADBG_TOOL("_ZN4mlir8ModuleOp6createENS_8LocationESt8optionalIN4llvm9"
              "StringRefEE");
const void *unknownLocation(MLIRContext *context)
    ADBG_TOOL("_ZN4mlir10UnknownLoc3getEPNS_11MLIRContextE");
void setAttributes(Operation *op, DictionaryAttr all)
    ADBG_TOOL("_ZN4mlir9Operation8setAttrsENS_14DictionaryAttrE");
void copyProperties(Operation *op, void *from)
    ADBG_TOOL("_ZN4mlir9Operation14copyPropertiesENS_16OpaquePropertiesE");
void copyTypedProperties(Operation *op, const void *typeID, void *from)
    ADBG_TOOL("_ZN4mlir9Operation14copyPropertiesENS_11PropertyRefE");
void setInherentAttribute(Operation *op, StringAttr name, Attribute value)
    ADBG_TOOL("_ZN4mlir9Operation15setInherentAttrENS_10StringAttrENS_9"
              "AttributeE");
struct Range {
  uintptr_t owner;
  size_t count;
};
void setOperands(Operation *op, Range values)
    ADBG_TOOL("_ZN4mlir9Operation11setOperandsENS_10ValueRangeE");
void removeOperation(Operation *op) ADBG_TOOL("_ZN4mlir9Operation6removeEv");
void eraseOperation(Operation *op) ADBG_TOOL(ADBG_ERASE);
void dropReferencesOf(Operation *op)
    ADBG_TOOL("_ZN4mlir9Operation17dropAllReferencesEv");
void dropUsesOf(Operation *op)
    ADBG_TOOL("_ZN4mlir9Operation23dropAllDefinedValueUsesEv");
void *addArgument(Block *block, Type type, Location loc)
    ADBG_TOOL("_ZN4mlir5Block11addArgumentENS_4TypeENS_8LocationE");
void eraseArguments(Block *block, unsigned first, unsigned count)
    ADBG_TOOL("_ZN4mlir5Block14eraseArgumentsEjj");
void eraseBlock(Block *block) ADBG_TOOL("_ZN4mlir5Block5eraseEv");

/// To a place in a list, an iterator.
void moveOperation(Operation *op, Block *block, void *place)
    ADBG_TOOL(ADBG_MOVE_BEFORE_IN);
void moveBlock(Block *block, Region *region, void *place)
    ADBG_TOOL("_ZN4mlir5Block10moveBeforeEPNS_6RegionE" ADBG_PLACE);

//===----------------------------------------------------------------------===//
// Patterns and conversions
//===----------------------------------------------------------------------===//

std::optional<int> actionOf(const void *target, OperationName name)
    ADBG_TOOL("_ZNK4mlir16ConversionTarget11getOpActionENS_13OperationNameE");
/// A std::optional of a structure that begins with the action. The callback is
/// never called.
struct OptionalLegality {
  int number;
  bool isRecursive;
  void *callback[4];
  bool isThere;
};
OptionalLegality legalityOf(const void *target, OperationName name)
    ADBG_TOOL("_ZNK4mlir16ConversionTarget9getOpInfoENS_13OperationNameE");
bool isIllegal(const void *target, Operation *op)
    ADBG_TOOL("_ZNK4mlir16ConversionTarget9isIllegalEPNS_9OperationE");
LogicalResult convertType(const void *converter, Type type, void *results)
    ADBG_TOOL(ADBG_CONVERT_TYPE_MANY);
/// Since LLVM 22.
LogicalResult convertTypeOf(const void *converter, Value value, void *results)
    ADBG_TOOL(ADBG_CONVERT_VALUE_TYPE_MANY);
/// Since LLVM 22, of a type or of a value, which has a mark.
LogicalResult convertTypeOrValue(const void *converter, Type type,
                                 void *results)
    ADBG_TOOL(ADBG_CONVERT_TYPE_OR_VALUE);
/// LLVM's switch of -debug.
extern bool debugFlag ADBG_TOOL("_ZN4llvm9DebugFlagE");
const void *typeIn(const void *attribute)
    ADBG_TOOL("_ZNK4mlir8TypeAttr8getValueEv");
ArrayRef<Type> inputsOf(const void *functionType)
    ADBG_TOOL("_ZNK4mlir12FunctionType9getInputsEv");
ArrayRef<Type> resultsOf(const void *functionType)
    ADBG_TOOL("_ZNK4mlir12FunctionType10getResultsEv");

} // namespace adbg::tool
