"""The lineage of an import: the module before and after the passes of a log, as stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from actiondbg.errors import NotRecorded, UsageError
from actiondbg.lineage.dumps.dump_lineage import DumpLineage
from actiondbg.lineage.locations import FileRemap, parse_remap
from actiondbg.lineage.stage import Stage, scanned_stage
from actiondbg.recording.session.descriptions import ActionDescriptions

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording
    from actiondbg.recording.session.recorded_ir import ImportedIR

_INPUT = "input"
_NODES = 1 << 24  # numbers of operations of a stage; no text of a log has more


class ImportedStage(Stage):
    """A stage whose text is scanned when it is first used: a log has hundreds.

    Args:
        name: what users call it.
        first_node: the number of its first operation.
        text: returns its text.
        is_part: whether the log shows only functions of the module there.
    """

    def __init__(
        self, name: str, first_node: int, text: Callable[[], str], *, is_part: bool = False
    ) -> None:
        self.name = name
        self.is_part = is_part
        self._first_node = first_node
        self._read = text

    @property
    def first_node(self) -> int:
        """The number of its first operation."""
        return self._first_node

    def __getattr__(self, attribute: str) -> Any:
        """Return a column, which is not there before the first use."""
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        text, first = self._read(), self._first_node
        scanned = scanned_stage(text, self.name, first_node=first, partial=True)
        vars(self).update(vars(scanned.stage), is_part=self.is_part)
        return vars(self)[attribute]


def imported_lineage(recording: Recording, remap: Sequence[str] = ()) -> DumpLineage:
    """Return the lineage of an import, by the locations in its IR.

    Args:
        recording: an import.
        remap: ``OLD=NEW`` names of source files.

    Raises:
        UsageError: the log does not show the module before and after a pass, or no locations; or
            a remap is invalid.
    """
    lineage = DumpLineage(stages_of(recording), FileRemap([parse_remap(one) for one in remap]))
    if not lineage.index(lineage.stages[0]).files:
        raise UsageError(
            f"{recording.path} has no source locations: import a log that the compiler printed "
            "with --mlir-print-debuginfo."
        )
    return lineage


def stages_of(recording: Recording) -> list[Stage]:
    """Return the stages of an import, in the order of time.

    They are the module before the first pass, if the log shows it, and after each pass on the
    module that changed it, or series of passes on functions. Before the first dump of the module
    they may be only its functions (``is_part``).

    Args:
        recording: an import.

    Raises:
        UsageError: the log never shows the module before and after a pass.
    """
    describe = ActionDescriptions(recording)
    known: list[_Shown] = []
    last: _Shown | None = None
    for name, event in _points(describe):
        shown = next(_shown(describe, name, event), None)
        last = shown or last
        if shown is not None and (not known or known[-1].read() != shown.read()):
            known.append(shown)
    if len(known) == 1 and known[0].name == _INPUT and last is not None and last is not known[0]:
        known.append(last)  # no pass changed anything
    if len(known) < 2:
        raise UsageError(
            f"{recording.path} does not show the module before and after a pass: import a log of "
            "--mlir-print-ir-before-all and --mlir-print-ir-after-all."
        )
    return [
        ImportedStage(one.name, number * _NODES + 1, one.read, is_part=one.is_part)
        for number, one in enumerate(known)
    ]


class _Shown(NamedTuple):
    name: str
    read: Callable[[], str]
    is_part: bool


def _shown(describe: ActionDescriptions, name: str, event: int) -> Iterator[_Shown]:
    """Iterate over what the log shows at an event: the module, or else its functions."""
    ir = cast("ImportedIR", describe.ir)
    first = ir.first_functions if name == _INPUT else None
    if first is not None:
        actions, text = describe.actions, first[1]
        place, _ = actions.line.at(first[0])
        name = f"after {actions.words('name').of(place)} #{actions.ordinal(place)}"
        yield _Shown(name, lambda: text, is_part=True)

    def module(event: int) -> str:
        return ir.module(event).text

    for read, is_part in ((module, False), (ir.functions, True)):
        with suppress(NotRecorded):
            read(event)
            yield _Shown(name, partial(read, event), is_part)


def _points(describe: ActionDescriptions) -> Iterator[tuple[str, int]]:
    """Iterate over the places where the module may be new: their names and events."""
    actions, line = describe.actions, describe.actions.line
    outermost = [place for place in range(actions.count) if not line.depth(place)]
    if not outermost:
        return
    yield _INPUT, int(line.begins[outermost[0]])
    names, functions = actions.words("name"), actions.words("function")
    for place, following in zip(outermost, [*outermost[1:], None], strict=True):
        is_in_series = following is not None and functions.of(following) is not None
        if functions.of(place) is not None and is_in_series:
            continue
        if line.is_over(place, line.last):
            yield f"after {names.of(place)} #{actions.ordinal(place)}", int(line.ends[place])
