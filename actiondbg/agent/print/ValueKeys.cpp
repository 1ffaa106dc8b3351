#include "print/ValueKeys.h"
#include "print/InputNames.h"
#include "print/LinePrinter.h"
#include "support/Traits.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"

namespace adbg {

bool isPrintable(Operation *op) {
  for (Value operand : op->getOperands())
    if (!operand)
      return false;
  // Verifies only the operation's own invariants: its regions are not printed.
  // Drops the verifier's diagnostics.
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  return succeeded(op->getName().verifyInvariants(op));
}

std::string nameIn(AsmState &state, Value value) {
  std::string name;
  raw_string_ostream os(name);
  value.printAsOperand(os, state);
  return StringRef(name).split('#').first.str();
}

std::string keyOf(OpResult result) {
  return std::to_string(ids.of(result.getOwner())) + "." +
         std::to_string(result.getResultNumber());
}

std::string keyOf(BlockArgument argument) {
  return BlockKeys::all().of(argument.getOwner()) + "." +
         std::to_string(argument.getArgNumber());
}

int64_t positionOf(Block *block) {
  int64_t number = 0;
  for (Block &each : *block->getParent()) {
    if (&each == block)
      break;
    ++number;
  }
  return number;
}

static std::string placeOf(Block *block) {
  Region *region = block->getParent();
  if (!region || !region->getParentOp())
    return "block";
  return std::to_string(ids.of(region->getParentOp())) + "/" +
         std::to_string(region->getRegionNumber()) + "/" +
         std::to_string(positionOf(block));
}

std::string BlockKeys::of(Block *block) {
  Lock lock(*this);
  auto [entry, isNew] = keys.try_emplace(block);
  if (isNew) {
    uint32_t number = valueOf(numbers, block);
    entry->second = number ? "/" + std::to_string(number) : placeOf(block);
    // The block that was there before may have moved away.
    while (!blocks.try_emplace(entry->second, block).second)
      entry->second += "'";
  }
  return entry->second;
}

void BlockKeys::record(bool isNumbering) {
  Lock lock(*this);
  this->isNumbering = isNumbering;
  share();
  numbers.clear();
  keys.clear();
  blocks.clear();
}

pid_t BlockKeys::inFork(function_ref<pid_t()> fork) {
  Lock lock(*this);
  pid_t child = fork();
  if (child == 0) {
    // The fork has no other threads; the mutex is that of a thread of the tool.
    isShared = false;
    lock.mutex = nullptr;
  }
  return child;
}

void BlockKeys::keep(Operation *root) {
  root->walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.getNumArguments())
          of(&block);
  });
}

void BlockKeys::forget(Block *block) {
  auto entry = keys.find(block);
  if (entry == keys.end())
    return;
  blocks.erase(entry->second);
  keys.erase(entry);
}

IRUnit findKey(Operation *root, StringRef key) {
  StringRef owner = key.rsplit('.').first;
  // In a replay nobody has asked for the key yet.
  if (owner.contains('/') && !BlockKeys::all().find(owner))
    BlockKeys::all().keep(root);
  if (Block *block = BlockKeys::all().find(owner))
    return block->getParentOp() && root->isAncestor(block->getParentOp())
               ? IRUnit(block)
               : IRUnit();
  uint32_t id = 0;
  Operation *op = owner.getAsInteger(10, id) ? nullptr : ids.find(id);
  return op && root->isAncestor(op) ? IRUnit(op) : IRUnit();
}

bool isSmall(Operation *scope, int64_t most) {
  return !firstIn(scope, [&](Operation *) { return most-- <= 0; });
}

bool writeNames(Operation *scope, AsmState &state, raw_ostream &os,
                bool ofInput, function_ref<bool(Operation *)> printsRegions) {
  bool leavesOut = false;
  InputNames &input = InputNames::all();
  if (ofInput)
    os << "!" << input.largestResult() << " " << input.largestArgument()
       << "\n";
  auto writeGiven = [&](const InputNames::Named &one) {
    os << "." << one.key << " " << one.name << "\n";
  };
  auto write = [&](Value value, const std::string &key, std::string *last) {
    std::string name = nameIn(state, value);
    if (last && name == *last)
      return;
    os << name << " " << key << "\n";
    if (last)
      *last = name;
  };
  Operation *last = nullptr;
  std::unordered_set<uint32_t> listed;
  auto enter = [&](Operation *op) {
    if (op != last)
      os << "@" << ids.of(op) << "\n";
    last = op;
    if (!ofInput || !listed.insert(ids.of(op)).second)
      return;
    input.inScope(ids.of(op), writeGiven);
  };
  // Of a value that came here with the body of another function.
  auto writeMoved = [&](uint32_t id, uint32_t block, uint32_t index) {
    if (!ofInput)
      return;
    std::optional<InputNames::Named> one = input.of(id, block, index);
    if (one && one->scope != ids.of(last))
      os << ">" << one->key << " " << one->name << "\n";
  };
  scope->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults())
      enter(op->getParentOp() ? scopeOf(op->getParentOp()) : op);
    // The results of a group share one name and are numbered.
    std::string group;
    for (OpResult result : op->getResults()) {
      writeMoved(ids.of(op), 0, result.getResultNumber());
      write(result, keyOf(result), &group);
    }
    if (!op->getNumRegions())
      return WalkResult::advance();
    if (printsRegions && !printsRegions(op)) {
      leavesOut = true;
      return WalkResult::skip();
    }
    enter(scopeOf(op));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments()) {
          writeMoved(0, BlockKeys::all().numberOf(&block),
                     argument.getArgNumber());
          write(argument, keyOf(argument), nullptr);
        }
    return WalkResult::advance();
  });
  return leavesOut;
}

/// Returns the first result of the group that a result is printed in: the
/// results of a group share one name and are numbered.
static OpResult firstOfGroup(OpResult result, AsmState &state) {
  OpResult first;
  std::string group;
  for (OpResult each : result.getOwner()->getResults()) {
    std::string name = nameIn(state, each);
    if (!first || name != group)
      first = each;
    group = name;
    if (each == result)
      break;
  }
  return first;
}

/// Writes the names and keys of the operands in `root`, as `writeNames`.
static void writeUsedNames(Operation *root, AsmState &state, raw_ostream &os) {
  std::unordered_set<const void *> seen;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!operand || !seen.insert(operand.getAsOpaquePointer()).second)
        continue; // an operand is null in the middle of a rewrite
      auto result = dyn_cast<OpResult>(operand);
      os << nameIn(state, operand) << " "
         << (result ? keyOf(firstOfGroup(result, state))
                    : keyOf(cast<BlockArgument>(operand)))
         << "\n";
    }
  });
}

void writePrintedNames(Operation *root, Operation *numbered, AsmState &state,
                       raw_ostream &os, bool ofInput) {
  LinePrinter printer(root->getContext(), LineStyle());
  bool generic = state.getPrinterFlags().shouldPrintGenericOpForm();
  // Named operations of linalg do not print their bodies.
  bool leavesOut = writeNames(root, state, os, ofInput, [&](Operation *op) {
    return generic || !printer.print(op).regions.empty();
  });
  if (numbered != root || leavesOut) {
    os << "=\n";
    writeNames(numbered, state, os, ofInput);
  }
  if (numbered != root) {
    os << "+\n";
    writeUsedNames(root, state, os);
  }
}

} // namespace adbg
