"""Random pipelines, questions about them, and the pipelines that answer the questions."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field

MERGE = "AddIAddConstant"  # a pattern of canonicalize that PROGRAM needs
# The names that clang and gcc give it.
OFF = f'disable-patterns="(anonymous namespace)::{MERGE}",{{anonymous}}::{MERGE}'
# Their order matters: each leaves work for another.
_PASSES = (
    "canonicalize",
    "canonicalize",
    "cse",
    "sccp",
    "loop-invariant-code-motion",
    "control-flow-sink",
    "mem2reg",
    "int-range-optimizations",
)
_OPTIONS = ("max-iterations=1", "top-down=false", "region-simplify=disabled", "max-num-rewrites=1")

PROGRAM = """\
func.func @sums(%a: i32, %n: index) -> (i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %lower = arith.constant 0 : index
  %step = arith.constant 1 : index
  %0 = arith.addi %a, %c1 : i32
  %1 = arith.addi %0, %c2 : i32
  %2 = arith.addi %0, %c2 : i32
  %3 = scf.for %i = %lower to %n step %step iter_args(%x = %1) -> i32 {
    %t = arith.muli %2, %c2 : i32
    %u = arith.addi %t, %c1 : i32
    %v = arith.addi %u, %c2 : i32
    %w = arith.addi %x, %v : i32
    scf.yield %w : i32
  }
  return %1, %2, %3 : i32, i32, i32
}
func.func @chosen(%a: i32, %p: i1) -> i32 {
  %c3 = arith.constant 3 : i32
  %c0 = arith.constant 0 : i32
  %m = memref.alloca() : memref<i32>
  memref.store %c3, %m[] : memref<i32>
  %0 = memref.load %m[] : memref<i32>
  %1 = arith.addi %a, %0 : i32
  %2 = arith.addi %1, %c3 : i32
  %3 = arith.muli %2, %c0 : i32
  %4 = arith.cmpi slt, %3, %c3 : i32
  %5 = arith.andi %4, %p : i1
  %6 = scf.if %5 -> i32 {
    %7 = arith.addi %2, %c3 : i32
    scf.yield %7 : i32
  } else {
    scf.yield %2 : i32
  }
  return %6 : i32
}
func.func @same(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %b, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
"""
_FUNCTIONS = PROGRAM.count("func.func")


@dataclass(eq=False)
class Entry:
    """A pass of a pipeline, with its options."""

    name: str
    options: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        return self.name + (f"{{{' '.join(self.options)}}}" if self.options else "")


@dataclass(eq=False)
class Nest:
    """Passes that run on the module, or on each function."""

    on_functions: bool
    passes: list[Entry]

    def __str__(self) -> str:
        text = ",".join(map(str, self.passes))
        return f"func.func({text})" if self.on_functions and self.passes else text


class RandomPipeline:
    """A pipeline of some nests.

    Attributes:
        nests: in their order; no two neighbours of one kind.
    """

    def __init__(self, chance: random.Random) -> None:
        is_nested = chance.random() < 0.5
        self.nests: list[Nest] = []
        for _ in range(chance.randint(1, 3)):
            passes = [Entry(chance.choice(_PASSES)) for _ in range(chance.randint(1, 4))]
            self.nests.append(Nest(is_nested, passes))
            is_nested = not is_nested

    def __str__(self) -> str:
        return f"builtin.module({','.join(filter(None, map(str, self.nests)))})"

    def numbers(self, entry: Entry) -> list[int]:
        """Return the numbers of the runs of an entry among those of its pass."""
        found: list[int] = []
        count = 0
        for nest in self.nests:
            for _ in range(_FUNCTIONS if nest.on_functions else 1):
                for one in nest.passes:
                    count += one.name == entry.name
                    if one is entry:
                        found.append(count)
        return found

    def entries(self) -> list[Entry]:
        return [one for nest in self.nests for one in nest.passes]

    def nest_of(self, entry: Entry) -> Nest:
        return next(nest for nest in self.nests if any(one is entry for one in nest.passes))


@dataclass(frozen=True)
class Question:
    """An alternative, and the pipeline of the cold run that answers it."""

    text: str
    pipeline: str


def ask(pipeline: RandomPipeline, chance: random.Random) -> Question:
    """Make a random question about a pipeline."""
    changed = copy.deepcopy(pipeline)
    pairs = dict(zip(pipeline.entries(), changed.entries(), strict=True))
    free = list(pipeline.entries())
    words: list[str] = []
    for _ in range(chance.randint(1, 3)):
        if not free:
            break
        entry = free.pop(chance.randrange(len(free)))
        word = _change(entry, pipeline, changed, pairs, free, chance)
        if word:
            words.append(word)
    if not words or chance.random() < 0.2:
        extra = chance.choice(_PASSES)
        words.append(f"append {extra}")
        changed.nests.append(Nest(False, [Entry(extra)]))
    return Question(" and ".join(words), str(changed))


def _change(
    entry: Entry,
    pipeline: RandomPipeline,
    changed: RandomPipeline,
    pairs: dict[Entry, Entry],
    free: list[Entry],
    chance: random.Random,
) -> str | None:
    """Make one change of an entry in ``changed``; return its text."""
    nest = changed.nest_of(pairs[entry])
    at = nest.passes.index(pairs[entry])
    reference = f"{entry.name}#{chance.choice(pipeline.numbers(entry))}"
    kind = chance.choice(("drop", "options", "replace", "before", "after", "move", "swap", "off"))
    other = chance.choice(_PASSES)
    if kind == "drop":
        del nest.passes[at]
        return f"drop {reference}"
    if kind == "options" and entry.name == "canonicalize":
        options = chance.sample(_OPTIONS, chance.randint(1, 2))
        nest.passes[at].options += options
        return f"{reference}{{{' '.join(options)}}}"
    if kind == "off" and entry.name == "canonicalize":
        nest.passes[at].options.append(OFF)
        return f"pattern:{MERGE} off in {reference}"
    if kind in ("before", "after"):
        nest.passes.insert(at + (kind == "after"), Entry(other))
        return f"insert '{other}' {kind} {reference}"
    partner = next((one for one in free if changed.nest_of(pairs[one]) is nest), None)
    if kind == "replace" or partner is None:
        nest.passes[at : at + 1] = [Entry(other), Entry("cse")]
        return f"replace {reference} with '{other},cse'"
    free.remove(partner)
    second = f"{partner.name}#{chance.choice(pipeline.numbers(partner))}"
    if kind == "swap":
        there = nest.passes.index(pairs[partner])
        nest.passes[at], nest.passes[there] = nest.passes[there], nest.passes[at]
        return f"swap {reference} {second}"
    side = chance.choice(("before", "after"))
    moved = nest.passes.pop(at)
    nest.passes.insert(nest.passes.index(pairs[partner]) + (side == "after"), moved)
    return f"move {reference} {side} {second}"
