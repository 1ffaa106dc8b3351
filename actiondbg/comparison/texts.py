"""The IR of the functions of a run: at its end, and where it was recorded after actions."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from actiondbg.ir.aliases import without_aliases
from actiondbg.ir.canonical import canonical
from actiondbg.ir.tree.outline import MODULE, outermost
from actiondbg.ir.tree.scanner import scan
from actiondbg.ir.written_locations import without_locations

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_MOST_KEPT = 64  # canonical texts
_PLAIN = ("module {", '"builtin.module"() ({')  # modules without a name and attributes


class Function(NamedTuple):
    """A function of a run.

    Args:
        module: the number of its MLIR context in the run, from 0: a tool that splits its input
            has one for each part.
        symbol: its name; "" for all operations outside of functions.
    """

    module: int
    symbol: str


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


def final_texts(recording: Recording) -> dict[Function, Texts] | None:
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
        Function(number, symbol): texts
        for number, stage in enumerate(outputs)
        for symbol, texts in function_texts(stage.text).items()
    }


def _last_texts(recording: Recording) -> dict[Function, Texts] | None:
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
            text = without_locations(without_aliases(snapshot.after or ""))
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
    return {Function(0, symbol): texts for symbol, texts in found.items()}


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
