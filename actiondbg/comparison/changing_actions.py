"""The actions of a recording that changed IR, and the IR of functions, by the function."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.ir.aliases import without_aliases
from actiondbg.ir.canonical import canonical
from actiondbg.ir.tree.outline import MODULE, outermost
from actiondbg.ir.tree.scanner import scan
from actiondbg.ir.written_locations import without_all_locations
from actiondbg.protocol.tags import ITERATION_TAG, PASS_TAG
from actiondbg.recording.format.arrow import call, pa

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_MOST_KEPT = 64  # canonical texts
_PLAIN = ("module {", '"builtin.module"() ({')  # modules without a name and attributes


class RunFunction(NamedTuple):
    """A function of a run."""

    # The number of its MLIR context in the run, from 0: a tool that splits its input has one for
    # each part.
    module: int
    symbol: str  # its name; "" for all operations outside of functions


# The texts of the operations with one symbol, by the modules around them, such as "@a::@b".
Texts = dict[str, str]


def function_texts(text: str) -> dict[str, Texts]:
    """Divide printed IR into the operations of its modules, by their symbols.

    Operations of a module with the same symbol are joined, as are those without one, under "". The
    first line of a module with a name or attributes has the symbol of the module. Aliases are
    replaced by their definitions.
    """
    tree = scan(without_aliases(text), "the IR", partial=True).tree
    unnamed = Counter[str]()  # modules, by what is around them

    @cache
    def place(index: int) -> str:
        """Return where the operations in an operation are; the outermost module has no part."""
        if index <= 0:
            return ""
        around, symbol = place(tree.parents[index]), tree.symbols.get(index, "")
        if not symbol and not tree.is_module(index):
            return around
        unnamed[around] += not symbol
        own = f"@{symbol}" if symbol else f"module {unnamed[around]}"
        return f"{around}::{own}" if around else own

    found: defaultdict[str, Texts] = defaultdict(dict)
    for index, parent in enumerate(tree.parents):
        if tree.is_module(index):
            place(index)  # unnamed ones are numbered in their order
            line = tree.text_of(index).partition("\n")[0].strip()
            line = "" if line in _PLAIN else line
        else:
            line = tree.text_of(index) if tree.is_module(parent) else ""
        if line:
            texts, around = found[tree.symbols.get(index, "")], place(parent)
            texts[around] = f"{texts.get(around, '')}{line}\n"
    return dict(found)


def whole_text(texts: Texts) -> str:
    """Return the operations with one symbol as a text, each in what stands for its modules."""
    return "".join(
        f"module {around} {{\n{text}}}\n" if around else text
        for around, text in sorted(texts.items())
    )


def final_texts(recording: Recording) -> dict[RunFunction, Texts] | None:
    """Return the IR of each function after the last action; None if it was not recorded.

    Of an imported log, it is the IR after the last pass that the log has. Constants of more than
    4,096 elements are elided in the IR.
    """
    if recording.header.imported:
        return _last_texts(recording)
    outputs = [stage for stage in recording.stages if stage.kind == "output"]
    if not outputs:
        return None
    return {
        RunFunction(number, symbol): texts
        for number, stage in enumerate(outputs)
        for symbol, texts in function_texts(stage.text).items()
    }


def _last_texts(recording: Recording) -> dict[RunFunction, Texts] | None:
    """Return the IR of each function after the last pass of an imported log.

    It is unknown where passes run on modules in modules, or on functions of the same name: a log
    does not say which one is printed.
    """
    found: dict[str, Texts] = {}
    for row in recording.table("actions", ["ordinal", "op"]).to_pylist():
        if row["op"] != MODULE and not str(row["op"]).endswith(".func"):
            return None
        for snapshot in recording.snapshots(row["ordinal"]):
            # A log may have locations, which name files and lines of the input.
            text = without_all_locations(without_aliases(snapshot.after or ""))
            texts, printed = function_texts(text), outermost(text)
            # A log may have the module around a function as well.
            if row["op"] == MODULE or (printed is not None and printed.is_module):
                found = texts
                continue
            for symbol, each in texts.items():
                places = found.get(symbol, {"": ""})
                if len(places) > 1:
                    return None
                found[symbol] = dict.fromkeys(places, "".join(each.values()))
    return {RunFunction(0, symbol): texts for symbol, texts in found.items()}


def is_same(one: str, other: str) -> bool:
    """Whether two texts of a function differ in nothing that has a meaning."""
    return one == other or _canonical(one) == _canonical(other)


@lru_cache(_MOST_KEPT)
def _canonical(text: str) -> str:
    return canonical(text)


def text_after(recording: Recording, ordinal: int, symbol: str) -> str | None:
    """Return the IR of a function after an action; None if it was not recorded.

    Only ``record --ir function`` records it.
    """
    if not recording.header.has_texts:
        return None
    for snapshot in recording.snapshots(ordinal):
        found = function_texts(snapshot.after or "").get(symbol, {})
        if len(found) == 1:
            return next(iter(found.values()))
    return None


# --- actions ---

_COLUMNS = ("ordinal", "tag", "name", "op", "file", "line", "col", "function", "context")
_NO_PLACE: dict[str, Any] = {"file": None, "line": None, "col": None}
# What users of values are told depends on the driver more than on the pattern.
_TELLING = ("inserted", "erased")


@dataclass(frozen=True)
class ChangingAction:
    """An action that changed IR itself, not only by actions in it."""

    ordinal: int
    # The arguments of the passes around it, the outermost first; its own of a pass.
    passes: tuple[str, ...]
    tag: str
    name: str  # its subject
    op: str | None  # the name of its operation, or None
    # That of the location of its operation, or None; of an operation in the function only.
    file: str | None
    line: int | None  # in the file, from 1; None without a file
    col: int | None  # likewise
    function: RunFunction  # the function that the action changed: around its operation, or in it
    # The operations that it inserted and erased there, sorted, such as
    # ``("erased arith.addi", "inserted arith.constant")``.
    effect: tuple[str, ...]

    @property
    def what(self) -> tuple[object, ...]:
        """What it did: the same in runs whose passes and locations differ."""
        name = "" if self.tag == ITERATION_TAG else self.name  # its number
        return self.tag, name, self.op, self.effect

    def key(self, shift: int = 0) -> tuple[object, ...]:
        """Return what is equal for the same action of another run, ``shift`` lines earlier."""
        line = None if self.line is None else self.line - shift
        return self.passes, *self.what, line, self.col


Streams = dict[RunFunction, list[ChangingAction]]


def changing_actions(recording: Recording) -> Streams:
    """Return the changing actions of each function, in the order of their ends.

    An action that changed several functions, as a pass on a module, is in the list of each. Changes
    that were undone, as by a conversion that failed, do not count.
    """
    table = recording.table("actions", [*_COLUMNS, "parent", "changed", "rolled_back"])
    changed = _flags(table, "changed") & ~_flags(table, "rolled_back")
    parents = np.nan_to_num(table["parent"].to_numpy(zero_copy_only=False)).astype(np.int64)
    effects = _effects(recording)
    if recording.header.imported:
        unknown = _unknown_effects(recording, table)
        changed[[ordinal - 1 for ordinal in unknown]] = True
        effects |= unknown
    # An action around a changing one changed IR itself only if its own changes say so.
    around = np.zeros(len(parents) + 1, bool)
    around[parents[changed]] = True
    wanted = [
        at for at in np.flatnonzero(changed).tolist() if not around[at + 1] or at + 1 in effects
    ]
    rows: list[dict[str, Any]] = (
        table.select(list(_COLUMNS)).take(pa.array(wanted, pa.int64())).to_pylist()
    )
    contexts = dict.fromkeys(table["context"].unique().to_pylist())
    modules = {name: at for at, name in enumerate(contexts)}
    passes = _Passes(table, parents)
    streams: defaultdict[RunFunction, list[ChangingAction]] = defaultdict(list)
    for row in _in_order_of_end(rows, parents):
        module, symbol = modules[row.pop("context")], row.pop("function") or ""
        around_it = passes.of(row["ordinal"])
        for changed_in, effect in _by_function(effects.get(row["ordinal"], {}), symbol):
            function = RunFunction(module, changed_in)
            place = {} if symbol and changed_in == symbol else _NO_PLACE
            streams[function].append(
                ChangingAction(**row | place, passes=around_it, function=function, effect=effect)
            )
    return dict(streams)


def _by_function(
    effects: dict[str, tuple[str, ...]], symbol: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what an action did in each function; outside of functions it did it in ``symbol``."""
    yield from ((name, each) for name, each in effects.items() if name not in ("", symbol))
    own = {"": (), **effects} if symbol else effects
    if not effects or "" in effects or symbol in effects:
        yield symbol, tuple(sorted((*own.get("", ()), *(own.get(symbol, ()) if symbol else ()))))


def _in_order_of_end(
    rows: list[dict[str, Any]], parents: np.ndarray[Any, np.dtype[np.int64]]
) -> list[dict[str, Any]]:
    """Sort actions so that each comes behind those in it, as its own changes include theirs."""
    last: dict[int, int] = {}
    for row in rows:
        ordinal = around = row["ordinal"]
        while around:
            last[around] = ordinal
            around = int(parents[around - 1])
    return sorted(rows, key=lambda row: (last[row["ordinal"]], -row["ordinal"]))


def _flags(table: Any, name: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    found = call("coalesce", table[name], pa.scalar(False))
    return found.to_numpy(zero_copy_only=False).astype(bool)


def _unknown_effects(recording: Recording, table: Any) -> dict[int, dict[str, tuple[str, ...]]]:
    """Return the functions after passes of a log with no IR before them, such as the first pass.

    Such a pass may have changed each function.
    """
    rows = table.select(["ordinal", "changed"]).to_pylist()
    return {
        row["ordinal"]: dict.fromkeys(function_texts(snapshot.after or ""), ())
        for row in rows
        if row["changed"] is None
        for snapshot in recording.snapshots(row["ordinal"])
    }


def _effects(recording: Recording) -> dict[int, dict[str, tuple[str, ...]]]:
    """Return what each action itself inserted and erased, by the symbol of the function."""
    names = ("ordinal", "kind", "op", "block", "function")
    changes = recording.table("changes", list(names))
    found: defaultdict[int, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for ordinal, kind, op, block, function in zip(
        *(changes[name].to_pylist() for name in names), strict=True
    ):
        effect = found[ordinal][function or ""]
        if kind in _TELLING and not block:
            effect.append(f"{kind} {op}")
    return {
        ordinal: {function: tuple(sorted(texts)) for function, texts in effects.items()}
        for ordinal, effects in found.items()
    }


class _Passes:
    """The passes around each action."""

    def __init__(self, table: Any, parents: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        self._parents = parents
        is_pass = np.asarray(call("equal", table["tag"].cast(pa.string()), PASS_TAG))
        self._names = {
            int(at) + 1: str(table["name"][int(at)].as_py()) for at in np.flatnonzero(is_pass)
        }
        self._known: dict[int, tuple[str, ...]] = {0: ()}

    def of(self, ordinal: int) -> tuple[str, ...]:
        chain: list[int] = []
        while ordinal not in self._known:
            chain.append(ordinal)
            ordinal = int(self._parents[ordinal - 1])
        found = self._known[ordinal]
        for each in reversed(chain):
            name = self._names.get(each)
            if name is not None and not is_adaptor(name):
                found = (*found, name)
            self._known[each] = found
        return found
