#include "edit/EditPlan.h"
#include "engine/Engine.h"
#include "layout/Proof.h"
#include "support/Locations.h"
#include "support/OwnFiles.h"
#include "support/Pipelines.h"

#include "mlir/Pass/Pass.h"

namespace adbg {

/// The file name in the locations of edited lines.
static constexpr StringRef editSource = "<edit>";

Edit Edit::parse(Fields &fields) {
  Edit edit{uint64_t(fields.integer("event", 1)),
            uint32_t(fields.integer("id", 1)), fields.textOr("path", ""),
            fields.textOr("pipeline", ""), fields.boolean("generic", false)};
  if (edit.path.empty() == edit.pipeline.empty())
    fields.fail("an edit has either the field 'path' or the field 'pipeline'");
  return edit;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Returns why an operation must not be changed now; empty if it may be. Pass
/// managers tolerate changes around a pass of their own; a pass or a driver
/// that is running holds pointers to operations.
static std::string whyFixed(const Frame *frame, bool isInside,
                            Operation *target) {
  if (!frame || isInside || frame->kind != Kind::Pass)
    return "IR can be edited only at a stop before or after a pass";
  for (const Frame *around = frame->parent; around; around = around->parent)
    if (!around->isAdaptor())
      return "#" + std::to_string(around->ordinal) + " " + around->name() +
             " is running, and holds operations of this IR";
  Operation *op = frame->op();
  if (!op || target->isProperAncestor(op))
    return "a pass manager is iterating over the operations in this one";
  return "";
}

static void invalidateAnalyses(const Frame *frame, Operation *target) {
  for (const Frame *at = frame; at; at = at->parent) {
    Operation *op = at->op();
    const auto &state = at->pass()->passState;
    if (!op || !state || !op->isAncestor(target))
      continue;
    AnalysisManager manager = state->analysisManager;
    // A running pass manager uses the analyses of the other operations.
    if (at != frame)
      manager = manager.nest(target);
    manager.invalidateAll();
    return;
  }
}

//===----------------------------------------------------------------------===//
// Edited operations
//===----------------------------------------------------------------------===//

static std::vector<StringRef> linesOf(StringRef text) {
  std::vector<StringRef> parts;
  text.split(parts, '\n');
  return parts;
}

/// Whether an operation can be changed into another.
static bool isSpliceable(Operation *old, Operation *fresh) {
  return old->getName() == fresh->getName() &&
         old->getNumResults() == fresh->getNumResults() &&
         old->getNumRegions() == fresh->getNumRegions() &&
         old->getNumSuccessors() == fresh->getNumSuccessors();
}

using Indices = std::vector<std::pair<size_t, size_t>>;

/// The most pairs to compare: beyond, only unchanged beginnings and ends of a
/// block are found.
static constexpr size_t mostKeyPairs = 4000000;

/// Adds a longest common subsequence of two ranges of keys.
static void addCommonKeys(ArrayRef<unsigned> old, ArrayRef<unsigned> fresh,
                          size_t offset, Indices &found) {
  size_t rows = old.size(), columns = fresh.size();
  if (!rows || !columns || rows > mostKeyPairs / columns)
    return;
  std::vector<unsigned> best((rows + 1) * (columns + 1));
  auto at = [&](size_t row, size_t column) -> unsigned & {
    return best[row * (columns + 1) + column];
  };
  for (size_t row = rows; row-- > 0;)
    for (size_t column = columns; column-- > 0;)
      at(row, column) =
          old[row] && old[row] == fresh[column]
              ? at(row + 1, column + 1) + 1
              : std::max(at(row + 1, column), at(row, column + 1));
  for (size_t row = 0, column = 0; row < rows && column < columns;) {
    if (old[row] && old[row] == fresh[column])
      found.push_back({offset + row++, offset + column++});
    else if (at(row + 1, column) >= at(row, column + 1))
      ++row;
    else
      ++column;
  }
}

/// Returns the indices of equal keys, in ascending order.
static Indices commonKeys(ArrayRef<unsigned> old, ArrayRef<unsigned> fresh) {
  Indices found;
  size_t first = 0, last = 0;
  size_t shortest = std::min(old.size(), fresh.size());
  while (first < shortest && old[first] && old[first] == fresh[first]) {
    found.push_back({first, first});
    ++first;
  }
  while (last < shortest - first && old[old.size() - 1 - last] &&
         old[old.size() - 1 - last] == fresh[fresh.size() - 1 - last])
    ++last;
  addCommonKeys(old.slice(first, old.size() - first - last),
                fresh.slice(first, fresh.size() - first - last), first, found);
  for (size_t left = last; left > 0; --left)
    found.push_back({old.size() - left, fresh.size() - left});
  return found;
}

static void copyAttributes(Operation *old, Operation *fresh) {
  if (!old->getPropertiesStorageSize())
    return old->setAttrs(fresh->getAttrDictionary());
  old->setDiscardableAttrs(fresh->getDiscardableAttrDictionary());
  old->copyPropertiesOf(fresh);
}

namespace {
/// Makes an operation equal to an edited copy of it, and keeps all operations
/// that were not edited: their ids, their locations and the pointers to them
/// stay valid. Operations correspond if their lines of text are equal, or if
/// operations of the same name stand between the same neighbours.
class Splice {
public:
  /// `before`: the printed text of the operation; `lines`: where its operations
  /// are in it. `after`: the edited text.
  Splice(StringRef before, const AsmState::LocationMap &lines, StringRef after)
      : lines(lines), before(linesOf(before)), after(linesOf(after)) {}

  /// Makes `target` equal to `edited`, and destroys `edited`.
  void into(Operation *target, Operation *edited) {
    adopt(target, edited);
    finish(edited);
  }

private:
  using Pair = std::pair<Operation *, Operation *>;

  void adopt(Operation *old, Operation *fresh) {
    copyAttributes(old, fresh);
    std::optional<FilePlace> place = asFilePlace(fresh->getLoc());
    if (!place || place->file != editSource) // an explicit loc(...)
      old->setLoc(fresh->getLoc());
    for (unsigned i = 0; i < fresh->getNumResults(); ++i) {
      Value changed = fresh->getResult(i);
      old->getResult(i).setType(changed.getType());
      changed.replaceAllUsesWith(old->getResult(i));
    }
    for (unsigned i = 0; i < fresh->getNumRegions(); ++i)
      mergeRegion(old->getRegion(i), fresh->getRegion(i));
    adopted.push_back({old, fresh});
  }

  void mergeRegion(Region &old, Region &fresh) {
    std::vector<Block *> olds, freshes;
    for (Block &block : old)
      olds.push_back(&block);
    for (Block &block : fresh)
      freshes.push_back(&block);
    size_t shared = std::min(olds.size(), freshes.size());
    for (size_t i = 0; i < shared; ++i) {
      mergeArguments(*olds[i], *freshes[i]);
      freshes[i]->replaceAllUsesWith(olds[i]);
    }
    for (size_t i = 0; i < shared; ++i)
      mergeBlock(*olds[i], *freshes[i]);
    for (size_t i = shared; i < olds.size(); ++i)
      deadBlocks.push_back(olds[i]);
    for (size_t i = shared; i < freshes.size(); ++i)
      freshes[i]->moveBefore(&old, old.end());
  }

  void mergeArguments(Block &old, Block &fresh) {
    for (BlockArgument argument : fresh.getArguments()) {
      unsigned number = argument.getArgNumber();
      if (number >= old.getNumArguments())
        old.addArgument(argument.getType(), argument.getLoc());
      old.getArgument(number).setType(argument.getType());
      argument.replaceAllUsesWith(old.getArgument(number));
    }
    if (old.getNumArguments() > fresh.getNumArguments())
      shortened.push_back({&old, fresh.getNumArguments()});
  }

  void mergeBlock(Block &old, Block &fresh) {
    std::unordered_map<Operation *, Operation *> oldOf;
    std::unordered_set<Operation *> kept;
    for (auto [op, changed] : match(old, fresh)) {
      oldOf[changed] = op;
      kept.insert(op);
    }
    for (Operation &op : old)
      if (!kept.contains(&op))
        dead.push_back(&op);
    std::vector<Operation *> order;
    for (Operation &op : fresh)
      order.push_back(&op);
    for (Operation *op : order) {
      Operation *before = valueOf(oldOf, op);
      (before ? before : op)->moveBefore(&old, old.end());
      if (before)
        adopt(before, op);
    }
  }

  void finish(Operation *edited) {
    for (auto [old, fresh] : adopted) {
      old->setOperands(ValueRange::ofOperands(fresh));
      for (unsigned i = 0; i < fresh->getNumSuccessors(); ++i)
        old->setSuccessor(fresh->getSuccessor(i), i);
    }
    edited->dropAllReferences();
    for (Operation *op : dead) {
      op->dropAllReferences();
      op->dropAllDefinedValueUses();
    }
    for (Block *block : deadBlocks) {
      block->dropAllReferences();
      block->dropAllDefinedValueUses();
    }
    for (Operation *op : dead)
      op->erase();
    for (Block *block : deadBlocks)
      block->erase();
    for (auto [block, count] : shortened)
      block->eraseArguments(count, block->getNumArguments() - count);
    edited->erase();
  }

  std::vector<Pair> match(Block &old, Block &fresh) {
    std::vector<Operation *> olds, freshes;
    std::vector<unsigned> oldKeys, freshKeys;
    for (Operation &op : old) {
      olds.push_back(&op);
      oldKeys.push_back(oldKey(&op));
    }
    for (Operation &op : fresh) {
      freshes.push_back(&op);
      freshKeys.push_back(freshKey(&op));
    }
    std::vector<Pair> pairs;
    size_t oldNext = 0, freshNext = 0;
    auto pairGap = [&](size_t oldEnd, size_t freshEnd) {
      for (; freshNext < freshEnd; ++freshNext)
        for (size_t at = oldNext; at < oldEnd; ++at)
          if (isSpliceable(olds[at], freshes[freshNext])) {
            pairs.push_back({olds[at], freshes[freshNext]});
            oldNext = at + 1;
            break;
          }
      oldNext = oldEnd;
    };
    Indices equal = commonKeys(oldKeys, freshKeys);
    for (auto [at, freshAt] : equal) {
      if (!isSpliceable(olds[at], freshes[freshAt]))
        continue;
      pairGap(at, freshAt);
      pairs.push_back({olds[at], freshes[freshAt]});
      oldNext = at + 1;
      freshNext = freshAt + 1;
    }
    pairGap(olds.size(), freshes.size());
    return pairs;
  }

  /// Returns a number for the line and the name of an operation; 0 if its line
  /// is unknown.
  unsigned keyOf(Operation *op, StringRef line) {
    std::string key = op->getName().getStringRef() + "\n" + line.trim();
    return keys.try_emplace(key, keys.size() + 1).first->second;
  }

  unsigned oldKey(Operation *op) {
    auto *found = lines.find(op);
    if (!found || found->second.first > before.size())
      return 0;
    return keyOf(op, before[found->second.first - 1]);
  }

  unsigned freshKey(Operation *op) {
    std::optional<FilePlace> place = asFilePlace(op->getLoc());
    if (!place || place->file != editSource || !place->line ||
        place->line > after.size())
      return 0;
    return keyOf(op, after[place->line - 1]);
  }

  const AsmState::LocationMap &lines;
  std::vector<StringRef> before, after;
  TextMap<unsigned> keys;
  std::vector<Pair> adopted;
  std::vector<Operation *> dead;
  std::vector<Block *> deadBlocks;
  /// Blocks with the number of their first superfluous argument.
  std::vector<std::pair<Block *, unsigned>> shortened;
};
} // namespace

//===----------------------------------------------------------------------===//
// Parsing and running
//===----------------------------------------------------------------------===//

namespace {
/// Collects the errors that MLIR reports, instead of the tool's handlers.
class EditErrors {
public:
  explicit EditErrors(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              first.empty())
            first = placeOf(diagnostic) + diagnostic.str();
          return success();
        }) {}

  std::string textOr(StringRef otherwise) const {
    return first.empty() ? otherwise.str() : first;
  }

private:
  static std::string placeOf(const Diagnostic &diagnostic) {
    std::optional<FilePlace> place = asFilePlace(diagnostic.getLocation());
    if (!place || place->file != editSource)
      return "";
    return "line " + std::to_string(place->line) + ", column " +
           std::to_string(place->column) + ": ";
  }

  std::string first;
  ScopedDiagnosticHandler handler;
};

/// The tool's, with room for what is behind: empty maps and vectors.
struct ParserConfig {
  MLIRContext *context;
  bool verifiesAfter = false;
  uint64_t others[64] = {};
};
} // namespace

static std::string replaceBy(StringRef text, Operation *target, bool generic) {
  MLIRContext *context = target->getContext();
  EditErrors errors(context);
  // Parsed into the body of a new module, as only the tool knows the layout of
  // a block.
  auto erase = [](Operation *module) { module->erase(); };
  std::unique_ptr<Operation, decltype(erase)> scratch(
      tool::makeModule(tool::unknownLocation(context), {}), erase);
  Block &block = scratch->getRegion(0).front();
  ParserConfig config{context};
  LogicalResult parsed = failure();
  {
    LoadingDialects loading(context);
    parsed = tool::parseSource(text, &block, &config, editSource, nullptr);
  }
  if (failed(parsed))
    return errors.textOr("the edited IR does not parse");
  std::string wanted =
      "the edited IR must be one " + target->getName().getStringRef().str();
  if (block.getOperations().size() != 1)
    return wanted + ", and has " +
           std::to_string(block.getOperations().size()) + " operations";
  Operation *edited = &block.front();
  if (edited->getName() != target->getName() ||
      edited->getNumRegions() != target->getNumRegions() ||
      edited->getNumResults() != target->getNumResults())
    return wanted + ", and is one " + edited->getName().getStringRef().str();
  edited->remove();
  OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  AsmState::LocationMap lines;
  AsmState state(target, flags, &lines);
  std::string before = printed(*target, state);
  Splice(before, lines, text).into(target, edited);
  return "";
}

static std::string whyEditInvalid(Operation *op) {
  EditErrors errors(op->getContext());
  return succeeded(mlir::verify(op)) ? "" : errors.textOr("it does not verify");
}

static std::string applyEdit(Engine &engine, const Edit &edit) {
  Operation *target = ids.find(edit.id);
  if (!target)
    return "there is no operation @" + std::to_string(edit.id);
  std::string why = whyFixed(engine.innermost, engine.stops.inside, target);
  if (!why.empty())
    return why;
  const Frame *frame = engine.innermost;
  Editing editing;
  ToolHeap toolHeap;
  // Other functions may be invalid at this place of the pipeline anyway.
  Operation *checked = rootOf(target);
  if (!whyEditInvalid(checked).empty())
    checked = target;
  if (edit.pipeline.empty()) {
    std::optional<std::string> text = readFile(edit.path.c_str());
    if (!text)
      return "cannot read " + edit.path + ": " + strerror(errno);
    why = replaceBy(*text, target, edit.generic);
  } else if (PipelineError error = runPipeline(target, edit.pipeline)) {
    why = "the passes cannot be applied: " + *error;
  }
  if (why.empty())
    why = whyEditInvalid(checked);
  invalidateAnalyses(frame, target);
  return why;
}

/// Returns why an edit cannot be applied, by trying it in a fork; empty if it
/// can be.
static std::string tryEdit(Engine &engine, const Edit &edit) {
  auto step = [&]() -> std::string {
    if (edit.pipeline.empty())
      return applyEdit(engine, edit);
    // Passes take their time, and are the tool's own.
    Operation *target = ids.find(edit.id);
    if (!target ||
        !whyFixed(engine.innermost, engine.stops.inside, target).empty())
      return ""; // refused below
    Editing editing;
    PipelineError error = checkPipeline(target, edit.pipeline);
    invalidateAnalyses(engine.innermost, target);
    return error ? "the passes cannot be applied: " + *error : "";
  };
  return proveInForks({{nullptr, step}}).front();
}

std::string EditPlan::apply(Engine &engine) {
  uint64_t now = engine.position.event;
  size_t done = event == now ? applied : 0, seen = 0;
  for (const Edit &edit : all) {
    if (edit.event != now || seen++ < done)
      continue;
    std::string why = tryEdit(engine, edit);
    if (why.empty())
      why = applyEdit(engine, edit);
    if (!why.empty())
      return why;
    event = now;
    applied = seen;
  }
  return "";
}

} // namespace adbg
