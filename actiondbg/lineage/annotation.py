"""A module whose operations carry their origins, as comments and as locations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from actiondbg.ir.tokens import ID, RESULTS, STRING, escaped
from actiondbg.ir.written_locations import split_location
from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.locations import UNKNOWN
from actiondbg.lineage.stage import Operation, Stage, places
from actiondbg.lineage.units import innermost

_SHOWN = 3  # origins in a comment
_BEFORE_NAME = re.compile(rf"\s*(?:{RESULTS})?")  # MLIR's parser takes the place of the name
_INNER = ("fused[", "]")
_RESOURCE = re.compile(rf"\bdense_resource<({STRING}|{ID})>")
# A section of a module's text with the data of its resources.
_RESOURCES = re.compile(rf'(?m)^\{{-#(?>(?:[^"#]++|{STRING}|#(?!-\}}))*)')
# It begins where a name begins, and takes all digits at once: there may be megabytes of them.
_RESOURCE_DATA = re.compile(rf'(?<![\w$.-])({STRING}|{ID})\s*:\s*"0x[0-9A-Fa-f]*')
_BETWEEN_MODULES = re.compile(r"(?m)^// -----.*$")  # each has its own resources


@dataclass(frozen=True)
class Origin:
    """An operation from which another one was made.

    Args:
        operation: it.
        is_exact: whether the compiler showed it; False if only locations do.
    """

    operation: Operation
    is_exact: bool


class Annotation:
    """The origins of the operations of a stage, and the module with them.

    Args:
        lineage: the lineage.
        stage: the stage to annotate.
        origin: an earlier stage, or the same.
        raised: returns the operation to name for an origin, such as the outermost around it.
        exact: leave out what only locations show.
    """

    def __init__(
        self,
        lineage: Lineage,
        stage: Stage,
        origin: Stage,
        *,
        raised: Callable[[Operation], Operation] = lambda operation: operation,
        exact: bool = False,
    ) -> None:
        self._lineage = lineage
        self._stage = stage
        self._origin = origin
        self._raised = raised
        self._exact = exact

    @cached_property
    def origins(self) -> dict[int, list[Origin]]:
        """By index of an operation, its origins; those around another origin are left out."""
        found: dict[int, dict[int, bool]] = {}
        if self._origin is self._stage:
            found = {index: {index: True} for index in range(len(self._stage))}
        else:
            related = self._lineage.relate(self._origin, self._stage, exact=self._exact)
            for source, target, exact in zip(*related, strict=True):
                of_target = found.setdefault(int(target), {})
                shown = _printed(self._raised(self._origin[int(source)])).index
                of_target[shown] = bool(exact) or of_target.get(shown, False)
        return {target: self._kept(sources) for target, sources in found.items()}

    def _kept(self, sources: dict[int, bool]) -> list[Origin]:
        kept = innermost(self._origin, sources)
        return [Origin(self._origin[index], sources[index]) for index in kept]

    def text(
        self, *, comments: bool = True, locations: bool = True, file: str | None = None
    ) -> str:
        """Return the module; operations stay on their lines.

        Args:
            comments: add the origins of each operation as a comment.
            locations: set the locations of operations to those of their origins.
            file: locations point to the lines of the origins in this file, which contains the
                text of their stage; None: they are the locations of the origins.
        """
        lines = list(self._stage.text_lines)
        commented = self._commented() if comments else {}
        generated = self._generated(file)
        inexact = "by location" if self._lineage.is_recorded else "by location or text"
        for number, index in _ends(self._stage).items():
            line, old = split_location(lines[number - 1])
            origins = self.origins.get(index, [])
            new = self._location(origins, file) if locations else ""
            if not new and locations:
                kept = self._stage.locations[index].text
                new = kept if kept != UNKNOWN.text and file is None else generated
            new = new or old
            comment = _comment(commented.get(index, []), inexact) if comments else ""
            lines[number - 1] = f"{line.rstrip()}{f' loc({new})' if new else ''}{comment}"
        return "\n".join(lines)

    def _commented(self) -> dict[int, list[Origin]]:
        """Return the origins for comments: an operation is no origin of itself."""
        first = self._lineage.stages[0]
        if self._origin is not self._stage or self._stage is first:
            return self.origins
        above = Annotation(
            self._lineage, self._stage, first, raised=self._raised, exact=self._exact
        )
        return above.origins

    def _generated(self, file: str | None) -> str:
        """Return the location of operations without an origin: line 0 of the origins' file.

        Debuggers take it for generated code; calls without a location are refused by LLVM.
        """
        if file is None:
            files = Counter(each for one in self._origin.locations for each, _ in places(one))
            file = max(files, key=lambda each: files[each], default=self._origin.name)
        return f'"{escaped(file)}":0:0'

    def _location(self, origins: Sequence[Origin], file: str | None) -> str:
        texts: dict[str, None] = {}
        for one in origins:
            operation = one.operation
            if file is None:
                text = _located(operation).location.text
            else:
                line = self._origin.text_lines[operation.line - 1]
                before = _BEFORE_NAME.match(line)
                column = before.end() + 1 if before else 1
                text = f'"{escaped(file)}":{operation.line}:{column}'
            if text != UNKNOWN.text:
                texts[text] = None
        if len(texts) <= 1:
            return next(iter(texts), "")
        return ", ".join(texts).join(_INNER)


def _printed(operation: Operation) -> Operation:
    """Return an operation, or the operation around it if the custom form of that leaves it out.

    ``linalg.matmul`` is printed without its body, a loop without its terminator.
    """
    stage, around = operation.stage, operation
    while around.parent is not None and _is_hidden(around, around.parent):
        if around.name in stage.text_lines[around.line - 1]:
            break
        around = around.parent
    return around


def _is_hidden(operation: Operation, parent: Operation) -> bool:
    """Whether the form of its parent leaves an operation out, unless the line names it."""
    if operation.line == parent.line:
        return True
    # A terminator that is made has the location of its parent, and the line of what is before it.
    before = operation.stage.lines[operation.index - 1]
    return operation.line == before and operation.location == parent.location


def _located(operation: Operation) -> Operation:
    """Return an operation, or the nearest operation around it in its function with a location."""
    around: Operation | None = operation
    while around is not None and not around.symbol and around.location.text == UNKNOWN.text:
        around = around.parent
    return operation if around is None or around.symbol or around.parent is None else around


def _ends(stage: Stage) -> dict[int, int]:
    """Return, by the lines on which operations end, the operation that ends there.

    Where several end on one line, the outermost does last, and only it can be annotated there.
    """
    ends: dict[int, int] = {}
    for index in range(len(stage)):
        ends.setdefault(stage.last_lines[index], index)
    return ends


def _comment(origins: Sequence[Origin], inexact: str) -> str:
    if not origins:
        return "  // no origin"
    words: list[str] = []
    for one in islice(origins, _SHOWN):
        approximate = "" if one.is_exact else f" ({inexact})"
        words.append(f"{_described(one.operation)}{approximate}")
    if len(origins) > _SHOWN:
        words.append(f"{len(origins) - _SHOWN} more")
    return f"  // from {', '.join(words)}".replace("\n", " ")


def _described(operation: Operation) -> str:
    """Return the name of an operation, its symbol or result, and its place."""
    name = f"@{operation.symbol}" if operation.symbol else operation.result
    location = operation.location.text
    place = f"line {operation.line}" if location == UNKNOWN.text else location.replace('"', "")
    return " ".join(filter(None, (operation.name, name, place)))


def resource_without_data(text: str) -> str | None:
    """Return the first resource of modules whose data the text does not have; None if all have it.

    Recorded IR has neither large resources nor large constants, which it prints as
    ``dense_resource<__elided__>``.
    """
    found = map(_without_data, _BETWEEN_MODULES.split(text))
    return next((name for name in found if name is not None), None)


def _without_data(module: str) -> str | None:
    sections = (section[0] for section in _RESOURCES.finditer(module))
    known = {data[1] for section in sections for data in _RESOURCE_DATA.finditer(section)}
    used = (match[1] for match in _RESOURCE.finditer(module))
    return next((name for name in used if name not in known), None)


def is_annotated(stage: Stage, text: str) -> bool:
    """Whether a text is the module of a stage, but for locations and comments."""
    lines = text.split("\n")
    numbers = _ends(stage)
    return max(numbers, default=0) <= len(lines) and all(
        _bare(lines[number - 1]) == _bare(stage.text_lines[number - 1]) for number in numbers
    )


def _bare(line: str) -> str:
    """Return the last line of an operation without its location and comment."""
    code, comment, _ = line.rpartition("  // ")
    return split_location(code if comment else line)[0].rstrip()
