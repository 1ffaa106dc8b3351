"""Random walks, of which scripts/test --walks runs many, and faults that they find."""

from __future__ import annotations

import sys

import pytest

from tests.walks.case import Case
from tests.walks.walk import replay, walk

# A front end that forgets the skips in the replay of a run, and one whose stack has a fault.
FORGETFUL = """
import sys, msgspec
from actiondbg.process.branches import (Branches)
plain = Branches.request
def request(self, ordinals=None):
    return msgspec.structs.replace(plain(self, ordinals), ordinals=[])
Branches.request = request
from actiondbg.cli import main
sys.exit(main())
"""
FAULTY = """
import sys
from actiondbg.session.inspection.stack import Stack
Stack.action = lambda self: max([])
from actiondbg.cli import main
sys.exit(main())
"""
# A front end that shows the frame of another action.
LYING = """
import sys, msgspec
from actiondbg.session.inspection.stack import Stack
plain = Stack.action
def action(self):
    found = plain(self)
    return msgspec.structs.replace(found, ordinal=found.ordinal + 1)
Stack.action = action
from actiondbg.cli import main
sys.exit(main())
"""
SKIP = ["start", "step 3", "goto #1", "skip --step", "rs 1", "continue"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_walk(seed: int, mlir_opt: str) -> None:
    build = "debian" if mlir_opt.startswith("/usr") else "pypi"
    failure = walk(seed, 15, {"pypi": mlir_opt, build: mlir_opt})
    assert failure is None, str(failure)


@pytest.mark.parametrize(
    ("front_end", "lines", "kind"),
    [
        (FORGETFUL, SKIP, "another output"),
        (FAULTY, ["start", "# check"], "internal error ValueError: max() arg is an empty sequence"),
        (LYING, ["start", "# check"], "views differ: ordinal of info action"),
    ],
)
def test_walks_find_faults(mlir_opt: str, front_end: str, lines: list[str], kind: str) -> None:
    case = Case("folds", "pypi", mlir_opt, "file")
    assert replay(case, lines) is None
    broken = replay(case, lines, [sys.executable, "-c", front_end])
    assert broken is not None and broken.kind.startswith(kind), broken
