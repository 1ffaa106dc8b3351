"""The operations of an import, and the last text of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from actiondbg.ir.aliases import definitions, with_suffix, with_used, without_aliases
from actiondbg.ir.tree.outline import MODULE, Printed, find, outermost, symbols_in, without_indent
from actiondbg.ir.written_locations import last_file_position

Key = tuple[str, str]  # the name and the symbol of an operation


@dataclass(eq=False)
class ImportedOperation:
    """An operation that was printed, or that is directly in a printed module.

    Args:
        id: its number, from 1.
        symbol: the symbol that it defines; empty for none.
        location: file, line and column, if they were printed.
        text: its last dump; empty for none.
        printed_at: the event of that dump; 0 for none.
        inside: the operations directly in that dump, if it is a module.
        definitions: the aliases of that dump; None until they are needed.
    """

    id: int
    name: str
    symbol: str
    location: tuple[str, int, int] | None = None
    text: str = ""
    printed_at: int = 0
    inside: dict[Key, list[Printed]] = field(default_factory=dict[Key, list[Printed]])
    definitions: dict[str, str] | None = None

    def part(self, printed: Printed) -> str:
        """Return an operation in the last dump as a dump of its own."""
        if self.definitions is None:
            self.definitions = definitions(self.text)
        return with_used(without_indent(self.text, printed), self.definitions)

    @property
    def key(self) -> Key:
        """Its name and its symbol."""
        return self.name, self.symbol

    @property
    def is_function(self) -> bool:
        """Whether it is a function, of any dialect."""
        return bool(self.symbol) and "func" in self.name


class LastText(NamedTuple):
    """The last text of an operation.

    Attributes:
        text: the text; None if it is unknown.
        is_own: whether it is a dump of the operation, not put together from others.
        is_exact: whether all of it is known to be the last one: a later dump may be that of one of
            several operations in it.
    """

    text: str | None
    is_own: bool = True
    is_exact: bool = True


class LastTexts:
    """Numbers the operations of dumps, and keeps the last text of each.

    An operation is identified by its name and symbol. Modules without a symbol, of which a program
    may have one for each kernel, are identified by the symbols in them.
    """

    def __init__(self) -> None:
        self.all: list[ImportedOperation] = []
        self._by_key: dict[Key, ImportedOperation] = {}
        self._modules: list[ImportedOperation] = []  # those without a symbol
        self._printed_modules: dict[ImportedOperation, None] = {}

    def of_key(self, key: Key) -> ImportedOperation:
        """Return the operation with a name and a symbol."""
        if key not in self._by_key:
            self._by_key[key] = self._new(key)
        return self._by_key[key]

    def add(self, operation: ImportedOperation) -> None:
        """Add an operation that is identified already."""
        self.all.append(operation)
        if operation.key == (MODULE, ""):
            self._modules.append(operation)
            self._modules.sort(key=lambda one: one.id)

    def of_dump(self, text: str, outer: Printed, *, is_top: bool) -> ImportedOperation:
        """Return the operation of a dump, whose outermost operation is ``outer``.

        ``is_top``: no operation is around that one.
        """
        if (outer.name, outer.symbol) == (MODULE, ""):
            operation = self._module({key for key, _ in _inside(text, outer)}, is_top)
        else:
            operation = self.of_key((outer.name, outer.symbol))
        if operation.location is None:
            operation.location = last_file_position(outer.of(text), text)
        return operation

    def keep(self, operation: ImportedOperation, text: str, outer: Printed, event: int) -> None:
        """Keep a dump as the last text of its operation."""
        operation.text, operation.printed_at = text, event
        operation.inside, operation.definitions = {}, None
        for key, printed in _inside(text, outer):
            operation.inside.setdefault(key, []).append(printed)
        if operation.inside:
            self._printed_modules[operation] = None

    def locate(self, operation: ImportedOperation, around: ImportedOperation) -> None:
        """Look the location of an operation up in the last dump of the module around it."""
        if operation.location is None and operation is not around:
            found = _found(around, operation.key)
            if len(found) == 1:
                text = around.text
                operation.location = last_file_position(found[0].of(text), text)

    def last_text(self, operation: ImportedOperation, now: str) -> LastText:
        """Return the last text of an operation, put together from its dump and others.

        Its present text, ``now``, selects one of several operations with the same symbol.
        """
        if operation not in self._modules[:1]:  # which is the outermost one
            for around in self._modules_after(operation):
                texts = [around.part(one) for one in _found(around, operation.key)]
                if texts:
                    return LastText(_chosen(texts, now), is_own=False)
        if not operation.text:
            return LastText(None)
        if not operation.symbol and operation.name != MODULE:  # there may be several
            return LastText(operation.text if operation.text == now else None)
        return self._assembled(operation)

    def _assembled(self, operation: ImportedOperation) -> LastText:
        if not operation.inside:
            return LastText(operation.text)
        pieces: list[LaterText] = []
        is_exact = True
        for one in self.all:
            if one.printed_at <= operation.printed_at:
                continue
            found = _found(operation, one.key)
            if len(found) == 1:
                pieces.append(LaterText(found[0], self._assembled(one).text or one.text))
            else:
                is_exact = is_exact and not found
        if not pieces:
            return LastText(operation.text, is_exact=is_exact)
        return LastText(assembled(operation.text, pieces), is_own=False, is_exact=is_exact)

    def _modules_after(self, operation: ImportedOperation) -> list[ImportedOperation]:
        """Return the modules that were printed after an operation, the last one first."""
        later = [one for one in self._printed_modules if one.printed_at > operation.printed_at]
        return sorted(later, key=lambda one: -one.printed_at)

    def _module(self, inside: set[Key], is_top: bool) -> ImportedOperation:
        if is_top and self._modules:
            return self._modules[0]
        symbols = {symbol for _, symbol in inside}

        def shared(one: ImportedOperation) -> int:
            return len(symbols & {symbol for _, symbol in one.inside})

        best = max(self._modules, key=shared, default=None)
        if best is not None and (shared(best) or not symbols or not best.inside):
            return best
        if self._modules and not find(self._modules[0].text, *self._modules[0].key):
            return self._modules[0]  # with other symbols, as no other module is in it
        self._modules.append(self._new((MODULE, "")))
        return self._modules[-1]

    def _new(self, key: Key) -> ImportedOperation:
        operation = ImportedOperation(len(self.all) + 1, *key)
        self.all.append(operation)
        return operation


def _inside(text: str, outer: Printed) -> Iterator[tuple[Key, Printed]]:
    if outer.is_module:
        yield from (((one.name, one.symbol), one) for one in symbols_in(text, outer))


def _found(around: ImportedOperation, key: Key) -> list[Printed]:
    """Return the operations with a name and a symbol in the last text of a module."""
    if key in around.inside:
        return around.inside[key]
    return find(around.text, *key) if not key[1] or key[1] in around.text else []


def _chosen(texts: list[str], now: str) -> str | None:
    """Return the only text, or the one that equals the present one."""
    if len(texts) == 1:
        return texts[0]
    return next((each for each in texts if is_same(each, now, bare=True)), None)


def is_same(text: str, other: str, *, bare: bool = False) -> bool:
    """Whether two dumps have the same IR, whatever their aliases are called."""
    return text == other or without_aliases(text, bare=bare) == without_aliases(other, bare=bare)


class LaterText(NamedTuple):
    """An operation in a text, and its later text, a dump."""

    place: Printed
    text: str


def assembled(text: str, pieces: Sequence[LaterText]) -> str:
    """Return a text with the later texts of operations in it; nested places are left out."""
    above: list[str] = []
    parts: list[str] = []
    at = 0
    for number, piece in enumerate(
        sorted(pieces, key=lambda one: (one.place.begin, -one.place.end))
    ):
        begin, end = piece.place.begin, piece.place.end
        if begin < at:
            continue
        renamed = with_suffix(piece.text, f"_{number}")
        outer = outermost(renamed)
        if outer is None:
            continue
        first = text[begin:end]
        indent = " " * (len(first) - len(first.lstrip(" ")))
        own = renamed[outer.begin : outer.end]
        if first.lstrip(" ").startswith(MODULE) and not own.startswith(MODULE):
            own = own.replace("module", MODULE, 1)  # as it is printed in other dialects' regions
        above.append(renamed[: outer.begin] + renamed[outer.end :])
        parts += (text[at:begin], _indented(own, indent))
        at = end
    return "".join((*(_lines(one) for one in above), *parts, text[at:]))


def module_of(texts: Sequence[str]) -> str:
    """Return a module that holds the operations of some dumps."""
    above: list[str] = []
    inside: list[str] = []
    for number, text in enumerate(texts):
        renamed = with_suffix(text, f"_{number}")
        outer = outermost(renamed)
        if outer is not None:
            above.append(renamed[: outer.begin] + renamed[outer.end :])
            inside.append(_indented(renamed[outer.begin : outer.end], "  "))
    return "".join((*(_lines(one) for one in above), "module {\n", *inside, "}\n"))


def _indented(text: str, indent: str) -> str:
    """Return lines with more indentation, which end with an end of line."""
    lines = text.rstrip("\n").split("\n")
    return "".join(f"{indent if line else ''}{line}\n" for line in lines)


def _lines(text: str) -> str:
    """Return text without empty lines around it; other lines end with an end of line."""
    bare = text.strip("\n")
    return f"{bare}\n" if bare else ""
