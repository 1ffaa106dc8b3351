"""Operations of a recording by the names of their results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from actiondbg.errors import NoSuchUnit, NotRecorded
from actiondbg.ir.tokens import RESULT
from actiondbg.ir.value_names import NamedKey
from actiondbg.recording.session.recorded_ir import RecordedIR
from actiondbg.session.inspection.named_access import erased_names

if TYPE_CHECKING:
    from actiondbg.recording.recorded_text import RecordedText
    from actiondbg.recording.session.imported_ir import ImportedIR
    from actiondbg.recording.session.operation_columns import OperationColumns

_MOST_LISTED = 4  # values of a name


class NamedValues:
    """Finds values by the names that they have in the session."""

    def __init__(self, operations: OperationColumns, ir: RecordedIR | ImportedIR) -> None:
        self._path = operations.recording.path
        self._operations = operations
        self._ir = ir

    def operation(self, name: str, at: int, event: int) -> int:
        """Return the id of the operation that defines a value.

        Args:
            name: with its %.
            at: the operation id of the cursor, 0 for none: of several values, the one in its
                function is meant, and there the one that is visible to it.
            event: from 1.

        Raises:
            NoSuchUnit: there is no such value, it is erased, or there are several.
            NotRecorded: the recording does not show it.
        """
        unknown = NotRecorded(
            f"{self._path} does not identify the values in its IR: name the operation of {name} by "
            "its id."
        )
        if not isinstance(self._ir, RecordedIR):
            raise unknown
        if not self._ir.is_of_functions:
            return self._of_line(self._ir, name, event)
        erased: list[NamedKey] = []
        elsewhere = False
        is_near = self._operations.function(at) is None
        for text in self._ir.texts_near(at, event):
            if not text.recorded.values:
                raise unknown  # of an older recording, or too large
            is_near = is_near or self._scope(text, at) is not None
            if not is_near:
                break  # its function may have another value of the name
            found = text.with_name(name)
            if alive := [one for one in found if self._is_there(one, text, event)]:
                one = _the_one(name, self._nearest(alive, text, at))
                self._check_not_erased(name, one, text, event)
                self._ir.note(_id_of(one), one.scope)
                return _id_of(one)
            erased += [one for one in found if _is_given(one, text)]
            elsewhere = elsewhere or bool(found)
        if erased:
            raise NoSuchUnit(erased_names(name, [_id_of(each) for each in erased]))
        if elsewhere:
            raise NoSuchUnit(f"{name} is a value of other stops: there is none here.")
        if is_near:
            raise NoSuchUnit(f"There is no value {name} at this stop.")
        raise NotRecorded(
            f"{self._path} holds no IR of the function of @{at}, as no action changed it: name the "
            f"operation of {name} by its id."
        )

    def _is_there(self, value: NamedKey, text: RecordedText, event: int) -> bool:
        if "/" in value.key:  # of a block
            return text.values.has(value.key)
        id = _id_of(value)
        if self._operations.row(id) is None:
            return True  # no action touched it
        # A text before the event lacks what was erased before it.
        is_gone = text.event <= event and not text.values.has(value.key) and _is_given(value, text)
        return not is_gone and self._operations.is_alive(id, event)

    def _check_not_erased(self, name: str, value: NamedKey, text: RecordedText, event: int) -> None:
        is_shown = text.event == event and text.values.has(value.key)
        if not is_shown and self._operations.may_be_erased(_id_of(value), event):
            raise NotRecorded(
                f"{self._path} does not hold whether @{_id_of(value)}, the operation of {name}, is "
                "erased at this stop."
            )

    def _scope(self, text: RecordedText, at: int) -> int | None:
        """Return the scope of an operation's results; None if the text does not have it."""
        listed = text.values.named.around
        own = next((one.scope for one in listed if one.key == f"{at}.0"), None)
        if own is not None:
            return own
        scopes = {one.scope for one in listed}
        function = self._operations.function(at)
        same = [one for one in scopes if function and self._operations.function(one) == function]
        return at if at in scopes else max(same, default=None)

    def _nearest(
        self, found: Sequence[NamedKey], text: RecordedText, at: int
    ) -> Sequence[NamedKey]:
        """Return the values that are meant at an operation; all of them if that is not certain."""
        scope = self._scope(text, at)
        near = [one for one in found if one.scope == scope] or found
        if len(near) == 1:
            return near
        visible = text.values.visible([one.key for one in near], f"{at}.0")
        return [one for one in near if one.key in visible] or near

    def _of_line(self, ir: RecordedIR, name: str, event: int) -> int:
        """Return the operation whose line begins with a name; see ``operation``."""
        begins = re.compile(rf"(?:{RESULT}, )*{re.escape(name)}(?::\d+)?(?:, | =)")
        ids = sorted({id for id, line in ir.lines() if begins.match(line)})
        alive = [id for id in ids if self._operations.is_alive(id, event)]
        if alive:
            return _id_of(_the_one(name, [NamedKey(name, f"{id}.0", 0) for id in alive]))
        if ids:
            raise NoSuchUnit(erased_names(name, ids))
        raise NotRecorded(
            f"{self._path} shows no value {name}: it holds a line for each operation that was "
            "changed. Name its operation by its id, or record with --ir function."
        )


def _is_given(value: NamedKey, text: RecordedText) -> bool:
    return any(each.key == value.key for each in text.values.named.given)


def _the_one(name: str, found: Sequence[NamedKey]) -> NamedKey:
    """Return the only value that is meant: a result."""
    ids = [f"@{_id_of(each)}" for each in found if "/" not in each.key]
    if not ids:
        raise NoSuchUnit(
            f"{name} is a block argument in @{found[0].scope}, and the cursor of a recording moves "
            "to operations only: name the operation that holds it by its id."
        )
    if len(found) > 1:
        listed = ", ".join(ids[:_MOST_LISTED]) + (" and others" if len(ids) > _MOST_LISTED else "")
        raise NoSuchUnit(
            f"The name {name} is that of {len(found)} values: of {listed}; give an id, such as "
            f"{ids[0]}, or move the cursor to where only one is visible."
        )
    return found[0]


def _id_of(value: NamedKey) -> int:
    """Return the operation that defines a value; for a block argument, that of its scope."""
    return value.scope if "/" in value.key else int(value.key.partition(".")[0])
