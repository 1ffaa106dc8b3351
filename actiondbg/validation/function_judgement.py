"""The judgement of a function before and after an action: the query, the limits, the verdict."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from actiondbg.ir.aliases import without_aliases
from actiondbg.ir.tree.scanner import BrokenText, scan
from actiondbg.support.globs import glob_matches
from actiondbg.validation.inputs import INDEX_BITS, Input
from actiondbg.validation.types import INDEX_WIDTH

Equivalence = Literal["equivalent", "different", "unknown"]
# The words for a verdict, in the order of a summary.
VERDICT_WORDS: dict[Equivalence, str] = {
    "equivalent": "equivalent",
    "different": "different",
    "unknown": "not known",
}
_BADNESS: tuple[Equivalence, ...] = ("equivalent", "unknown", "different")
# How a verdict was found: nothing to compare, a proof, or runs on chosen inputs.
EvidenceKind = Literal["none", "proof", "execution"]
SECONDS = 20.0  # for a function, by default


def worst(verdicts: Collection[Equivalence]) -> Equivalence:
    """Return the verdict on all of several parts: equivalent if each of them is."""
    return max(("equivalent", *verdicts), key=_BADNESS.index)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input on which before and after differ."""

    input: Input  # of the function
    difference: str  # what differs, with both values
    confirmed: str = ""  # by which second way; empty if there was none
    # A program each, before and after, that calls the function with the input and prints what it
    # does; empty if none can be made.
    tests: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Nest:
    """An operation with regions, such as a loop nest."""

    name: str  # of the operation
    number: int  # among those of its name in the function, in the order of the text, from 0
    total: int  # how many of its name the function has


@dataclass(frozen=True, slots=True)
class FunctionJudgement:
    """Whether a function does after an action what it did before."""

    symbol: str  # of the function
    verdict: Equivalence  # "unknown" with the reason in ``detail``
    evidence: EvidenceKind  # for it
    detail: str  # how thoroughly it was examined, what differs, or why nothing is known
    inputs: int = 0  # the number of inputs with defined behaviour on which it was run
    counterexample: Counterexample | None = None  # of a different function
    seconds: float = 0.0  # spent on it
    # Of a different function, the outermost ones before the action that are not the same after it.
    nests: tuple[Nest, ...] = ()
    # It is unknown as no caller of the function differs, though the function does.
    is_doubted: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """The IR before and after an action."""

    before: str  # a module, or a function
    after: str  # likewise
    symbol: str = ""  # of the function; empty if the texts are modules
    module: str = ""  # the module around the function, for what it calls; empty if unknown
    # The pass that made the change; empty if unknown. No lowering with it is believed.
    suspect: str = ""

    @property
    def digest(self) -> bytes:
        """What no other query has; the texts may be large."""
        parts = (self.before, self.after, self.symbol, self.module, self.suspect)
        sums = (hashlib.sha256(each.encode("utf-8", "surrogatepass")).digest() for each in parts)
        return b"".join(sums)

    @property
    def functions(self) -> int:
        """The number of functions, about."""
        return 1 if self.symbol else max(self.before.count("func.func"), 1)


@dataclass(frozen=True, slots=True)
class JudgementLimits:
    """How much a judgement may cost, and with what it is made."""

    tool: str = ""  # the debugged tool, beside which mlir-opt and mlir-runner are looked for
    scratch: str = ""  # a folder for files; empty for no real runs
    inputs: int = 48  # the number of inputs with defined behaviour to run
    seconds: float = SECONDS  # for a function, all ways together
    steps: int = 200_000  # for a run
    aliased: bool = False  # whether memref arguments of a type may overlap
    any_index: bool = False  # whether arguments of type index may need more than 32 bits
    # Whether arguments may be poison, as those of a piece of a function.
    may_be_poison: bool = False
    func: tuple[str, ...] = ()  # globs of the functions to judge; none for all

    def chooses(self, symbol: str) -> bool:
        """Whether a function is to be judged."""
        return not self.func or any(glob_matches(glob, symbol) for glob in self.func)

    @property
    def index_bits(self) -> int:
        """Arguments of type index are signed numbers of so many bits."""
        return INDEX_WIDTH if self.any_index else INDEX_BITS

    def seconds_for(self, query: Query) -> float:
        """Return the seconds for all functions of a query."""
        return self.seconds * query.functions


_SYMBOL = re.compile(r"@([\w$.-]+)")


def in_module(function: str, symbol: str, module: str) -> str:
    """Return a module with a function in place of the one with its symbol; all are texts."""
    text = without_aliases(function)
    others = _referred(text, symbol, _operations(module)) if module else []
    return "\n".join(("module {", *others, text, "}"))


def _referred(text: str, symbol: str, operations: dict[str, str]) -> list[str]:
    """Return the operations to which a text refers, and those to which they refer."""
    found: dict[str, str] = {symbol: ""}
    left = [text]
    while left:
        for name in _SYMBOL.findall(left.pop()):
            if name not in found and name in operations:
                found[name] = operations[name]
                left.append(operations[name])
    return [each for each in found.values() if each]


@lru_cache(8)
def _operations(module: str) -> dict[str, str]:
    """Return the texts of the operations in a module by their symbols."""
    try:
        tree = scan(without_aliases(module), "the module", partial=True).tree
    except BrokenText:
        return {}
    return {
        symbol: tree.text_of(at)
        for at, symbol in tree.symbols.items()
        if not tree.is_module(at) and tree.is_module(tree.parents[at])
    }
