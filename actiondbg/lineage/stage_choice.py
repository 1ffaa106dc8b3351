"""A stage chosen by its name, by a pass or by an ordinal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from actiondbg.errors import UsageError
from actiondbg.lineage.stage import Stage

_SHOWN = 12  # stages that a message names


def chosen_stage(stages: Sequence[Stage], text: str) -> Stage:
    """Return the stage that a user means.

    Args:
        stages: those of the lineage.
        text: its name or file, ``#17``, or a pass; of several matches the last one.

    Raises:
        UsageError: there is no such stage.
    """
    for stage in stages:
        if text in (stage.name, PurePath(stage.name).name):
            return stage
    # As in "after cse #17".
    wanted = re.compile(rf"(?:^|[\s:#]){re.escape(text.removeprefix('#'))}(?:$|\s)")
    for stage in reversed(stages):
        if wanted.search(stage.name):
            return stage
    names = [stage.name for stage in stages]
    some = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    raise UsageError(f"There is no stage {text!r} in this lineage: choose one of {some}.")
