"""The end of a recording, as the stop at the tool's end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from actiondbg import protocol
from actiondbg.process.stop import Stop, exit_of

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording
    from actiondbg.recording.session.columns import Actions
    from actiondbg.recording.session.telling import Telling

_WRITTEN = (0, 0)  # bytes, which are not recorded
_NO_ACTION: dict[str, Any] = {"ordinal": 0, "tag": "", "name": "", "op": None, "depth": 0}


def stop_at_end(recording: Recording, actions: Actions, telling: Telling) -> Stop:
    """Return the stop at the end of a recording.

    Args:
        recording: the recording.
        actions: its actions.
        telling: tells of them.
    """
    ending, last = recording.ending, actions.line.last
    if ending.ended == "killed":
        return Stop(when="exit", reason="killed", event=last, message=recording.cut)
    if ending.ended == "exit":
        status = ending.status or 0
        exited = protocol.Exited(actions=actions.count, status=status, written=_WRITTEN, event=last)
        return exit_of(status, True, exited, None)
    action = _NO_ACTION
    if ending.ordinal is not None:
        told = telling.fields(actions.place(ending.ordinal))
        action = {name: told[name] for name in _NO_ACTION}
    number = ending.signal or 0
    crashed = protocol.Crashed(signal=number, written=_WRITTEN, event=last, **action)
    stop = exit_of(-number, True, None, crashed)
    if number:
        return stop
    # Which signal it was is not known.
    message = (stop.message or "").replace("crashed, with status 0,", "crashed")
    return msgspec.structs.replace(stop, status=None, message=message)
