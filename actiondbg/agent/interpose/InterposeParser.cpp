//===- InterposeParser.cpp - The parser of textual IR ---------------------===//
//
// The parser notes where it finds each definition, if it is given an
// AsmParserState. It is given one, for the names of values. The portable agent
// cannot read IR yet when it is parsed.
//
//===----------------------------------------------------------------------===//

#ifndef ADBG_PORTABLE

#include "engine/Engine.h"
#include "interpose/Interpose.h"
#include "print/InputNames.h"
#include "support/AgentHeap.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace mlir {
class AsmParserCodeCompleteContext;
class ParserConfig;
} // namespace mlir

using namespace mlir;
using namespace adbg;
using llvm::ArrayRef;

// Not in an anonymous namespace: functions that take these have to be exported.
namespace adbg {
/// A place in the text, as llvm::SMLoc.
struct SourcePlace {
  const char *text;
};
/// As llvm::SMRange.
struct SourceRange {
  SourcePlace first, last;
};
/// The first result and the name of each group of results.
using ResultGroups = ArrayRef<std::pair<unsigned, SourcePlace>>;
} // namespace adbg

void makeNotes(void *notes) __asm__(ADBG_MAKE_NOTES) __attribute__((weak));
void dropNotes(void *notes) __asm__(ADBG_DROP_NOTES) __attribute__((weak));

/// The AsmParserState of this thread's parser, if the agent gave it one.
static thread_local void *notes = nullptr;
static thread_local ParsedNames *parsed = nullptr;

#define ADBG_ORIGINAL(SYMBOL, ...) static Original<__VA_ARGS__> next(SYMBOL)

/// Makes a note: its memory must not move that of IR.
template <typename... Arguments>
static void note(const Original<void(void *, Arguments...)> &next, void *self,
                 Arguments... arguments) {
  if (self != notes)
    return next(self, arguments...);
  AgentHeap agentHeap;
  next(self, arguments...);
}

extern "C++" {

ADBG_INTERPOSE(LogicalResult, parseText, ADBG_PARSE_TEXT,
               const llvm::SourceMgr &sources, Block *block,
               const ParserConfig &config, void *state,
               AsmParserCodeCompleteContext *completion) {
  ADBG_ORIGINAL(ADBG_PARSE_TEXT, LogicalResult(const llvm::SourceMgr &, Block *,
                                               const ParserConfig &, void *,
                                               AsmParserCodeCompleteContext *));
  Engine &engine = Engine::get();
  // In a recording, too, which has no use for them: with notes, the parser
  // makes attributes that it does not make without, and these move what comes
  // later.
  if (state || !makeNotes || !dropNotes || !engine.isAttached() ||
      engine.isSilentHere())
    return next(sources, block, config, state, completion);
  alignas(16) char own[64]; // a pointer so far
  ParsedNames names(engine.observer.ids);
  {
    AgentHeap agentHeap;
    makeNotes(own);
  }
  void *outerNotes = std::exchange(notes, static_cast<void *>(own));
  ParsedNames *outer = std::exchange(parsed, &names);
  LogicalResult result = next(sources, block, config, own, completion);
  notes = outerNotes;
  parsed = outer;
  AgentHeap agentHeap;
  dropNotes(own);
  if (succeeded(result) && !engine.isObserving)
    InputNames::all().add(names);
  return result;
}

ADBG_INTERPOSE(void, noteRoot, ADBG_NOTE_ROOT, void *self, Operation *root) {
  ADBG_ORIGINAL(ADBG_NOTE_ROOT, void(void *, Operation *));
  note(next, self, root);
}

ADBG_INTERPOSE(void, noteBegin, ADBG_NOTE_BEGIN, void *self,
               const OperationName &name) {
  ADBG_ORIGINAL(ADBG_NOTE_BEGIN, void(void *, const OperationName *));
  note(next, self, &name);
}

ADBG_INTERPOSE(void, noteOperation, ADBG_NOTE_OPERATION, void *self,
               Operation *op, SourceRange name, SourcePlace end,
               ResultGroups groups) {
  ADBG_ORIGINAL(ADBG_NOTE_OPERATION, void(void *, Operation *, SourceRange,
                                          SourcePlace, ResultGroups));
  if (self == notes) {
    AgentHeap agentHeap;
    for (const auto &[first, place] : groups)
      parsed->add(op, first, place.text);
  }
  note(next, self, op, name, end, groups);
}

ADBG_INTERPOSE(void, noteRegion, ADBG_NOTE_REGION, void *self) {
  ADBG_ORIGINAL(ADBG_NOTE_REGION, void(void *));
  note(next, self);
}

ADBG_INTERPOSE(void, noteBlock, ADBG_NOTE_BLOCK, void *self, Block *block,
               SourcePlace place) {
  ADBG_ORIGINAL(ADBG_NOTE_BLOCK, void(void *, Block *, SourcePlace));
  note(next, self, block, place);
}

ADBG_INTERPOSE(void, noteArgument, ADBG_NOTE_ARGUMENT, void *self,
               BlockArgument argument, SourcePlace place) {
  ADBG_ORIGINAL(ADBG_NOTE_ARGUMENT, void(void *, BlockArgument, SourcePlace));
  if (self == notes) {
    AgentHeap agentHeap;
    parsed->add(argument.getOwner(), argument.getArgNumber(), place.text);
  }
  note(next, self, argument, place);
}

ADBG_INTERPOSE(void, noteUses, ADBG_NOTE_USES, void *self, Value value,
               ArrayRef<SourcePlace> places) {
  ADBG_ORIGINAL(ADBG_NOTE_USES, void(void *, Value, ArrayRef<SourcePlace>));
  note(next, self, value, places);
}

ADBG_INTERPOSE(void, noteBlockUses, ADBG_NOTE_BLOCK_USES, void *self,
               Block *block, ArrayRef<SourcePlace> places) {
  ADBG_ORIGINAL(ADBG_NOTE_BLOCK_USES,
                void(void *, Block *, ArrayRef<SourcePlace>));
  note(next, self, block, places);
}

ADBG_INTERPOSE(void, noteSymbolUses, ADBG_NOTE_SYMBOL_USES, void *self,
               Attribute symbol, ArrayRef<SourceRange> places) {
  ADBG_ORIGINAL(ADBG_NOTE_SYMBOL_USES,
                void(void *, Attribute, ArrayRef<SourceRange>));
  note(next, self, symbol, places);
}

ADBG_INTERPOSE(void, noteAliasUses, ADBG_NOTE_ALIAS_USES, void *self,
               llvm::StringRef alias, SourceRange place) {
  ADBG_ORIGINAL(ADBG_NOTE_ALIAS_USES,
                void(void *, llvm::StringRef, SourceRange));
  note(next, self, alias, place);
}

} // extern "C++"

#undef ADBG_ORIGINAL

#endif // ADBG_PORTABLE
