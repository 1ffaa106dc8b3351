"""The names that values have in the tool's input file, for the input of a recorded run.

MLIR's printer numbers values anew. Its parser places an operation behind its results, ``%a =``, so
that their names are found in the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from actiondbg.ir.resolved_text import NAME, ResolvedText
from actiondbg.lineage.stage import Stage
from actiondbg.recording.format.header import Header

_MOST_TEXT = 16 << 20  # characters of a file or of a stage: names are read and resolved in seconds
_PLACE = re.compile(r'"(?P<file>.*)":(?P<line>\d+):(?P<column>\d+)')
_TOKEN = re.compile(rf'({NAME})|"(?:[^"\\\n]|\\.)*+"|//[^\n]*+')
_GROUPS = rf"{NAME}(?:\s*:\s*\d+)?(?:\s*,\s*{NAME}(?:\s*:\s*\d+)?)*"
_RESULTS = re.compile(rf"{_GROUPS}\s*=\s*\Z")
_RESULTS_OF_LINE = re.compile(rf"[ ]*{_GROUPS} = ")
_GENERIC = re.compile(r' *"')
_IN_NAME = re.compile(r"[\w$.]")
_LONGEST = 2000  # characters of the results of one operation


class _Parsed(NamedTuple):
    """An operation in the file, and in the printed text: where its results and its name begin."""

    results: int
    name: int
    printed: int


def with_input_names(stage: Stage, header: Header) -> str | None:
    """Return the printed text of a run's input with the names of its file.

    Args:
        stage: the input, as printed; its operations have the locations of the parser.
        header: names the file.

    Returns:
        None if the file cannot be read, has changed since, or places operations by itself.
    """
    source = _source(stage, header)
    if source is None or len(stage.text) > _MOST_TEXT:
        return None
    file, text = source
    parsed = list(_parsed(stage, file, text))
    resolved = ResolvedText(stage.text, None)
    names = _Matching(resolved, text, parsed).names
    return resolved.renamed(names) if names else None


def _source(stage: Stage, header: Header) -> tuple[str, str] | None:
    """Return the file in which operations are, as locations name it, and its text."""
    for location in stage.locations:
        if place := _PLACE.fullmatch(location.text):
            break
    else:
        return None
    file = place["file"]
    path = Path(header.cwd, file)
    try:
        status = path.stat()
        is_same = status.st_mtime_ns <= header.started and path.is_file()
        if file not in header.argv or not is_same or status.st_size > _MOST_TEXT:
            return None
        text = path.read_bytes().decode("latin-1")  # a column is a number of bytes
    except OSError:
        return None
    return None if f'"{file}":' in text else (file, text)


def _parsed(stage: Stage, file: str, text: str) -> Iterator[_Parsed]:
    """Find the operations that stand at their locations, in the order of the printed text."""
    starts = _line_starts(text)
    printed = _line_starts(stage.text)
    before = 0
    for index, (name, line) in enumerate(zip(stage.names, stage.lines, strict=True)):
        if line == before:
            continue  # the custom form leaves it out
        before = line
        place = _PLACE.fullmatch(stage.locations[index].text)
        if place is None or place["file"] != file or int(place["line"]) > len(starts):
            continue
        at = starts[int(place["line"]) - 1] + int(place["column"]) - 1
        if _is_named(text, at, name):
            yield _Parsed(_results_begin(text, at), at, printed[line - 1])


def _results_begin(text: str, at: int) -> int:
    """Return where the results of an operation begin; where its name does without results."""
    before = at - 1
    while before >= 0 and text[before].isspace():
        before -= 1
    if before < 0 or text[before] != "=":
        return at
    # Usually they are on one line.
    for first in (text.rfind("\n", 0, before) + 1, max(0, at - _LONGEST)):
        if results := _RESULTS.search(text, first, at):
            return results.start()
    return at


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _is_named(text: str, at: int, name: str) -> bool:
    """Whether an operation begins there: quoted, or perhaps without a default dialect."""
    forms = (f'"{name}"', name, name.partition(".")[2])
    return any(
        form and text.startswith(form, at) and not _IN_NAME.match(text, at + len(form))
        for form in forms
    )


class _Matching:
    """The values of a printed text under their names in the file.

    Attributes:
        names: by the index of the defining occurrence in the printed text; a value whose name is
            not found has one that is not in the file. Empty if none is found.
    """

    def __init__(self, printed: ResolvedText, text: str, parsed: Sequence[_Parsed]) -> None:
        self._printed = printed
        self._text = text
        self._results: dict[int, str] = {}
        self._others: dict[int, str] = {}
        for one in parsed:
            self._add_results(one)
        for one, following in pairwise(parsed):
            # Between two operations stand the operands of the first, and arguments of blocks.
            if following.results >= one.name:
                self._add_others(one, following.results, following.printed)
        if parsed:
            self._add_others(parsed[-1], len(text), len(printed.text))
        found = self._others | self._results
        self.names = self._completed(found) if found else {}

    def _add_results(self, one: _Parsed) -> None:
        names = [found[1] for found in _TOKEN.finditer(self._text, one.results, one.name)]
        values = [self._printed.values[at] for at in self._defined(one)]
        if len(values) == len(names):
            self._results.update(zip(values, names, strict=True))

    def _defined(self, one: _Parsed) -> range:
        """Return the occurrences of the results of an operation in the printed text."""
        first = bisect_left(self._printed.starts, one.printed)
        found = _RESULTS_OF_LINE.match(self._printed.text, one.printed)
        return range(first, bisect_left(self._printed.starts, found.end() if found else 0, first))

    def _add_others(self, one: _Parsed, end: int, printed_end: int) -> None:
        found = _TOKEN.finditer(self._text, one.name, end)
        names = [token[1] for token in found if token[1]]
        places = range(self._defined(one).stop, bisect_left(self._printed.starts, printed_end))
        values = [self._printed.values[at] for at in places]
        if len(values) != len(names):
            return
        pairs = dict(zip(values, names, strict=True))
        known = {value: self._known(value) for value in pairs}
        is_same = all(
            (known[value] or pairs[value]) == name
            for value, name in zip(values, names, strict=True)
        )
        # The generic form has operands, then arguments of blocks, and a custom one any order.
        unknown = {value for value in pairs if known[value] is None}
        is_certain = self._is_same_form(one) or len(unknown) <= 1 or unknown == set(places)
        if is_same and is_certain:
            self._others |= pairs

    def _known(self, value: int) -> str | None:
        return self._results.get(value) or self._others.get(value)

    def _is_same_form(self, one: _Parsed) -> bool:
        printed = self._printed.text
        found = _RESULTS_OF_LINE.match(printed, one.printed)
        is_generic = _GENERIC.match(printed, found.end() if found else one.printed) is not None
        return is_generic == (self._text[one.name] == '"')

    def _completed(self, found: dict[int, str]) -> dict[int, str]:
        taken = {token[1] for token in _TOKEN.finditer(self._text) if token[1]}
        names = dict(found)
        for value in {*self._printed.regions, *self._printed.values} - found.keys():
            name, number = self._printed.names[value], 0
            while name in taken:
                name, number = f"{self._printed.names[value]}_{number}", number + 1
            names[value] = name
        return names
