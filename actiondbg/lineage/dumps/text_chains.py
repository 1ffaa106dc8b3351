"""Operations that stay the same from dump to dump, though their location is lost: their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from actiondbg.ir.tokens import RESULTS, STRING, VALUE
from actiondbg.ir.written_locations import without_trailing_locations
from actiondbg.lineage.lineage import Evidence, LineageStep
from actiondbg.lineage.locations import SourceRange, ranges_at, same_file
from actiondbg.lineage.stage import Stage

CONSTANTS, SYMBOLS = "a constant", "a symbol"  # kinds; no operation has a name with a blank

_CONSTANT = re.compile(r"(?:^|[._])(?:constant|const)$")
_GLOBAL = re.compile(r"(?:^|[._])global$")
_DENSE = re.compile(
    r"(?P<value>dense(?:_resource)?<[^<>]*>)(?:\s*:\s*(?:tensor|vector|memref)<(?P<type>[^<>,]*))?"
)
_DECLARED = re.compile(r":\s*(?:tensor|vector|memref)<(?P<type>[^<>,]*)")
_SCALAR = re.compile(r"(?<![\w.%@#$])(-?\d[\w.+-]*|true|false)\b(?:\s*:\s*(\w+))?")
_RESULTS = re.compile(rf"^\s*{RESULTS}")
_VALUE = re.compile(rf"{VALUE}(?:#\d+)?")
_ALIAS = re.compile(r"([#!][A-Za-z_]+)_?\d*")
_FLOAT = re.compile(r"(?<![\w.%@#$])-?\d+\.\d*(?:[eE][-+]?\d+)?")
_STRING = re.compile(STRING)
SPLAT = re.compile(r"dense<([^<>,\[\]]+)> : (?:[\d?]+x)*(\w+)")
# Values that passes make anew: neutral elements, padding, bounds of ranges in hexadecimal.
_COMMON = re.compile(
    r"(?:-?(?:(?:0|0?\.5|1|2)(?:\.0*)?(?:e[+-]0+)?|5(?:\.0*)?e-01)|0x\w+|true|false) : ",
    re.IGNORECASE,
)
_FLOATS = frozenset(("f16", "bf16", "f32", "f64", "f80", "f128"))
_LONGEST = 10_000  # characters of a line whose numbers are compared as such
_KNOWN_TEXTS = 1 << 16  # most lines of a log are printed again and again


class ComparedTexts:
    """The texts of the operations of a stage, in groups that can be compared with other stages.

    Args:
        stage: the stage.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._groups: dict[str, dict[str, list[int]]] = {}
        self._paths: dict[int, str] = {-1: ""}

    def kinds(self, index: int) -> Sequence[str]:
        """Return in which ways an operation is compared: a global by its symbol and its value."""
        name = self.stage.names[index]
        if index in self.stage.symbols:
            return (SYMBOLS, CONSTANTS) if _GLOBAL.search(name) else (SYMBOLS,)
        return (CONSTANTS,) if _CONSTANT.search(name) else (name,)

    def groups(self, kind: str) -> dict[str, list[int]]:
        """Return the operations of a kind that have the same text, by it."""
        found = self._groups.get(kind)
        if found is None:
            found = self._groups[kind] = {}
            for index in self._members(kind):
                key = self.key(kind, index)
                if key:
                    found.setdefault(key, []).append(index)
        return found

    def key(self, kind: str, index: int) -> str:
        """Return the symbol path, constant or line of an operation, for comparison."""
        if kind == SYMBOLS:
            return self.path(index)
        line = self.stage.text_lines[self.stage.lines[index] - 1]
        return constant_value(line) if kind == CONSTANTS else _plain(line)

    def path(self, index: int) -> str:
        """Return the symbols of an operation and of the operations around it, as a path."""
        found = self._paths.get(index)
        if found is None:
            around = self.path(self.stage.parents[index])
            symbol = self.stage.symbols.get(index)
            found = self._paths[index] = f"{around}@{symbol}" if symbol else around
        return found

    def is_unlocated(self, index: int) -> bool:
        """Whether the location of an operation, or a part of it, is unknown."""
        text = self.stage.locations[index].text
        if "unknown" in text and "unknown" in _STRING.sub("", text):
            return True
        return not any(one.is_known for one in self.ranges(index))

    def ranges(self, index: int) -> frozenset[SourceRange]:
        """Return the source ranges of an operation."""
        return ranges_at(self.stage.locations, index)

    @cached_property
    def _symbols(self) -> list[int]:
        return sorted(self.stage.symbols)

    def _members(self, kind: str) -> Sequence[int]:
        if kind == SYMBOLS:
            return self._symbols
        if kind != CONSTANTS:
            return [one.index for one in self.stage.named(kind)]
        names = {
            name for name in set(self.stage.names) if _CONSTANT.search(name) or _GLOBAL.search(name)
        }
        return sorted(one.index for name in names for one in self.stage.named(name))


@lru_cache(_KNOWN_TEXTS)
def _plain(line: str) -> str:
    """Return the text of an operation without location, names of values, numbers of aliases."""
    return _ALIAS.sub(r"\1", _VALUE.sub("%", _right_side(line))).strip()


@lru_cache(_KNOWN_TEXTS)
def constant_value(line: str, *, exactly: bool = False) -> str:
    """Return the value of a constant, or of a global, with its type; empty for none.

    Args:
        line: the operation.
        exactly: keep all digits of numbers, as both texts are printed by MLIR.
    """
    text = _without_results(line) if exactly else _right_side(line)
    dense = _DENSE.search(text)
    if dense:
        declared = _DECLARED.search(text)
        shape = dense["type"] or (declared["type"] if declared else "")
        return f"{dense['value']} : {shape}"
    scalar = _SCALAR.search(text)
    return f"{scalar[1]} : {scalar[2] or ''}" if scalar else ""


def _without_results(line: str) -> str:
    """Return a line without results and location."""
    return _RESULTS.sub("", without_trailing_locations(line.rstrip()))


def _right_side(line: str) -> str:
    """Return a line without results and location; numbers as MLIR prints them or as users do."""
    text = _without_results(line)
    if len(text) > _LONGEST:
        return text
    return _FLOAT.sub(lambda found: f"{float(found[0]):.5e}", text)


def is_distinctive(value: str) -> bool:
    """Whether passes copy a constant of a value: they make sizes, flags and neutral elements."""
    is_copied = value.startswith("dense") or value.rpartition(" : ")[2] in _FLOATS
    return is_copied and not _COMMON.match(SPLAT.sub(r"\1 : \2", value))


# --- chains from stage to stage ---


Overlap = Callable[[int, int], bool]


class _Link(NamedTuple):
    """An operation of a stage, and how a chain came to it.

    Args:
        at: the operation.
        before: the operation of the stage before it in the chain.
        evidence: what shows that they are the same.
        is_by_text: whether the text alone shows any part of the chain.
    """

    at: int
    before: _Link | None = None
    evidence: Evidence = Evidence.LOCATION
    is_by_text: bool = False


class TextChains:
    """Follows operations from stage to stage.

    Args:
        stages: in the order of time.
        file_name: the name that replaces a source file's.
    """

    def __init__(self, stages: Sequence[Stage], file_name: Callable[[str], str]) -> None:
        self._stages = stages
        self._file_name = file_name
        self._texts: dict[int, ComparedTexts] = {}
        self._edges: dict[int, TextEdges] = {}

    def is_among(self, index: int, place: int, others: Iterable[int], there: int) -> bool:
        """Whether one of the operations of another stage has the same text as an operation.

        Args:
            index: the operation.
            place: the number of its stage.
            others: operations that its location leads to.
            there: the number of their stage.
        """
        one, other = self._texts_of(place), self._texts_of(there)
        for kind in one.kinds(index):
            key = one.key(kind, index)
            if any(kind in other.kinds(at) and other.key(kind, at) == key for at in others):
                return True
        return False

    def follow(self, index: int, place: int, to: int) -> dict[int, tuple[LineageStep, ...]]:
        """Follow an operation to another stage, forward or back.

        Args:
            index: the operation.
            place: the number of its stage.
            to: the number of the other stage.

        Returns:
            The operations that only their texts lead to, and the steps to each.
        """
        back = to < place
        links = [_Link(index)]
        for at in range(place, to, -1 if back else 1):
            edges = self._between(at - 1 if back else at)
            beside = edges.origins if back else edges.heirs
            following: dict[int, _Link] = {}
            for link in links:
                for pair in beside(link.at):
                    known = following.get(pair.at)
                    if known is None or (known.is_by_text and pair.by_location):
                        following[pair.at] = _Link(
                            pair.at,
                            link,
                            Evidence.LOCATION if pair.by_location else Evidence.TEXT,
                            link.is_by_text or not pair.by_location,
                        )
            links = list(following.values())
        return {link.at: self._steps(link, to, back) for link in links if link.is_by_text}

    def _steps(self, link: _Link, place: int, back: bool) -> tuple[LineageStep, ...]:
        """Return the steps of a chain; those of the same evidence as one."""
        steps: list[LineageStep] = []
        end, at = self._stages[place].nodes[link.at], place
        while link.before is not None:
            evidence = link.evidence
            while link.before is not None and link.evidence is evidence:
                link = link.before
                at += 1 if back else -1
            node = self._stages[at].nodes[link.at]
            steps.append(
                LineageStep(evidence, end, node) if back else LineageStep(evidence, node, end)
            )
            end = node
        return tuple(steps if back else reversed(steps))

    def _between(self, place: int) -> TextEdges:
        """Return the comparison of a stage with the next one."""
        found = self._edges.get(place)
        if found is None:
            found = self._edges[place] = TextEdges(
                self._texts_of(place),
                self._texts_of(place + 1),
                lambda one, other: self._overlap(place, one, other),
            )
        return found

    def _texts_of(self, place: int) -> ComparedTexts:
        found = self._texts.get(place)
        if found is None:
            found = self._texts[place] = ComparedTexts(self._stages[place])
        return found

    def _overlap(self, place: int, one: int, other: int) -> bool:
        ranges = self._texts_of(place).ranges(one)
        others = self._texts_of(place + 1).ranges(other)
        return any(
            a.meets(b) and same_file(self._file_name(a.file), self._file_name(b.file))
            for a in ranges
            for b in others
        )


class TextPair(NamedTuple):
    """An operation, and the same one in the stage after or before.

    Args:
        at: the other.
        by_location: whether their source ranges overlap too.
    """

    at: int
    by_location: bool


class TextEdges:
    """Compares the operations of two stages, one kind after the other, when they are asked for.

    Args:
        source: the earlier stage.
        target: the later stage.
        overlap: whether the source ranges of two operations overlap.
    """

    def __init__(self, source: ComparedTexts, target: ComparedTexts, overlap: Overlap) -> None:
        self._source, self._target = source, target
        self._overlap = overlap
        self._heirs: dict[int, list[TextPair]] = {}
        self._origins: dict[int, list[TextPair]] = {}
        self._known: set[str] = set()

    def heirs(self, index: int) -> Sequence[TextPair]:
        """Return the operations of the later stage that are an operation of the earlier one."""
        self._compare(self._source.kinds(index))
        return self._heirs.get(index, ())

    def origins(self, index: int) -> Sequence[TextPair]:
        """Return the operations of the earlier stage that an operation of the later one was."""
        self._compare(self._target.kinds(index))
        return self._origins.get(index, ())

    def _compare(self, kinds: Iterable[str]) -> None:
        for kind in kinds:
            if kind in self._known:
                continue
            self._known.add(kind)
            news = self._target.groups(kind)
            for key, olds in self._source.groups(kind).items():
                if key in news:
                    self._match(kind, key, olds, news[key])

    def _match(self, kind: str, key: str, olds: list[int], news: list[int]) -> None:
        """Relate operations of the same text, from the surest evidence to the least sure."""
        olds, news = self._in_order(olds, news, lambda one, at: (one.path(at), _where(one, at)))
        olds, news = self._in_order(olds, news, _where, located=True)
        if 1 in (len(olds), len(news)):  # copied or merged
            olds, news = self._each(olds, news, self._overlap)
        olds, news = self._in_order(olds, news, lambda one, at: one.path(at), lost=True)
        is_alone = len(olds) == len(news) == 1
        if kind == CONSTANTS:
            if is_alone or (1 in (len(olds), len(news)) and is_distinctive(key)):
                self._each(olds, news, self._is_lost)
        elif is_alone and self._is_lost(olds[0], news[0]):
            self._each(olds, news, self._have_related_parents)

    def _have_related_parents(self, one: int, other: int) -> bool:
        parents = self._source.stage.parents[one], self._target.stage.parents[other]
        return min(parents) >= 0 and self._overlap(*parents)

    def _in_order(
        self,
        olds: list[int],
        news: list[int],
        place: Callable[[ComparedTexts, int], object],
        *,
        located: bool = False,
        lost: bool = False,
    ) -> tuple[list[int], list[int]]:
        """Relate the operations at the same place in order, if there are as many.

        Args:
            olds: operations of the earlier stage.
            news: operations of the later stage.
            place: what has to be the same.
            located: only operations whose location is known.
            lost: only pairs of which one has lost its location.

        Returns:
            The operations that are left.
        """
        if not olds or not news:
            return olds, news
        there: dict[object, list[int]] = {}
        for at in news:
            there.setdefault(place(self._target, at), []).append(at)
        here: dict[object, list[int]] = {}
        for at in olds:
            here.setdefault(place(self._source, at), []).append(at)
        done: set[int] = set()
        reached: set[int] = set()
        for where, some in here.items():
            others = there.get(where, ())
            if len(some) != len(others):
                continue
            for one, other in zip(some, others, strict=True):
                if located and self._source.is_unlocated(one):
                    continue
                if lost and not self._is_lost(one, other):
                    continue
                self._relate(one, other)
                done.add(one)
                reached.add(other)
        return [one for one in olds if one not in done], [one for one in news if one not in reached]

    def _each(
        self, olds: list[int], news: list[int], is_same: Overlap
    ) -> tuple[list[int], list[int]]:
        """Relate the pairs for which ``is_same`` holds; return the operations without a pair."""
        pairs = [(one, other) for one in olds for other in news if is_same(one, other)]
        for one, other in pairs:
            self._relate(one, other)
        done, reached = {one for one, _ in pairs}, {other for _, other in pairs}
        return [one for one in olds if one not in done], [one for one in news if one not in reached]

    def _is_lost(self, one: int, other: int) -> bool:
        return self._source.is_unlocated(one) or self._target.is_unlocated(other)

    def _relate(self, one: int, other: int) -> None:
        by_location = self._overlap(one, other)
        self._heirs.setdefault(one, []).append(TextPair(other, by_location))
        self._origins.setdefault(other, []).append(TextPair(one, by_location))


def _where(texts: ComparedTexts, index: int) -> str:
    return texts.stage.locations[index].text
