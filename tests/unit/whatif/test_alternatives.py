"""The notation of alternatives."""

from __future__ import annotations

import subprocess
import sys

import pytest

from actiondbg.errors import UsageError
from actiondbg.whatif import (
    Alternative,
    AppendedPipeline,
    ChangedBenefit,
    ChangedOptions,
    DroppedPass,
    InsertedPipeline,
    MovedPass,
    PassReference,
    ReplacedPass,
    SwappedPasses,
    Switch,
    parse_alternatives,
)

CSE, SECOND = PassReference("cse"), PassReference("canonicalize", 2)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("pattern:FoldX off", [(Switch("pattern", "FoldX"),)]),
        ("pattern:ns::Fold* on;", [(Switch("pattern", "ns::Fold*", on=True),)]),
        ("fold:arith.addi off in cse", [(Switch("fold", "arith.addi", inside=CSE),)]),
        (
            "pattern:FoldX off in canonicalize#2",
            [(Switch("pattern", "FoldX", inside=SECOND),)],
        ),
        (
            "drop cse; drop pass:sccp; drop canonicalize#2",
            [(DroppedPass(CSE),), (DroppedPass(PassReference("sccp")),), (DroppedPass(SECOND),)],
        ),
        (
            "append 'canonicalize{max-iterations=1}, cse' and benefit pattern:FoldX 7",
            [(AppendedPipeline("canonicalize{max-iterations=1}, cse"), ChangedBenefit("FoldX", 7))],
        ),
        (
            "append canonicalize{max-iterations=1 x=2},func.func(cse, sccp) and drop cse",
            [
                (
                    AppendedPipeline("canonicalize{max-iterations=1 x=2},func.func(cse, sccp)"),
                    DroppedPass(CSE),
                )
            ],
        ),
        (
            'canonicalize#2{max-iterations=1 disable-patterns="(a; b)::X and",Y}; drop cse',
            [
                (ChangedOptions(SECOND, 'max-iterations=1 disable-patterns="(a; b)::X and",Y'),),
                (DroppedPass(CSE),),
            ],
        ),
        ("'cse{x=1 y=2}'", [(ChangedOptions(CSE, "x=1 y=2"),)]),
        (
            "'drop cse' \"pattern:'a b' off\"",
            [(DroppedPass(CSE),), (Switch("pattern", "a b"),)],
        ),
        ("replace cse with 'sccp,cse'", [(ReplacedPass(CSE, "sccp,cse"),)]),
        (
            "insert sccp before cse and insert 'a, b' after canonicalize#2",
            [(InsertedPipeline("sccp", "before", CSE), InsertedPipeline("a, b", "after", SECOND))],
        ),
        ("move cse after canonicalize#2", [(MovedPass(CSE, "after", SECOND),)]),
        ("swap cse canonicalize#2", [(SwappedPasses(CSE, SECOND),)]),
        (
            "pattern:'a b' off;;drop x",
            [(Switch("pattern", "a b"),), (DroppedPass(PassReference("x")),)],
        ),
        (
            "pattern:'(anonymous namespace)::X' off;drop '[ab]*#3'",
            [
                (Switch("pattern", "(anonymous namespace)::X"),),
                (DroppedPass(PassReference("[ab]*", 3)),),
            ],
        ),
    ],
)
def test_a_text_and_back(text: str, changes: list[tuple[object, ...]]) -> None:
    found = parse_alternatives(text)
    assert [one.changes for one in found] == changes
    assert parse_alternatives("; ".join(one.text for one in found)) == found


def test_the_run_as_it_is_has_no_changes() -> None:
    assert Alternative().text == "as it is"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "There is no alternative"),
        (" ; ", "There is no alternative"),
        ("pattern:FoldX", "'pattern:FoldX' is not an alternative: write 'pattern:P off', "),
        ("pattern:FoldX maybe", "is not an alternative"),
        ("pattern: off", "The name is missing"),
        ("FoldX off", "is not an alternative"),
        ("#17 off", "is not an alternative: to leave out one action, 'goto #17' and 'skip'."),
        ("drop", "is not an alternative"),
        ("drop cse sccp", "is not an alternative"),
        ("append canonicalize, cse", "write \"append 'PIPELINE'\""),
        ("append 'cse", "A quote ' is not closed in"),
        ("benefit FoldX", "is not an alternative"),
        ("benefit FoldX many", "'many' is not a benefit: give an integer from 0 to 65,534"),
        ("benefit FoldX 65535", "is not a benefit"),
        ("drop canonicalize#0", "'canonicalize#0' is not a pass"),
        ("drop canonicalize#x", "'canonicalize#x' is not a pass"),
        ("pattern:X on in cse", "leave 'in PASS' out"),
        ("fold:arith.addi on", "is not an alternative"),
        ("swap cse and canonicalize", "'swap cse' is not an alternative: write 'swap PASS PASS'"),
        ("move cse canonicalize", "is not an alternative"),
        ("cse{x=1", "is not an alternative"),
        ("drop [", r"The \[ in '\[' is not closed"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_alternatives(text)


def test_the_package_has_it_as_an_attribute() -> None:
    code = "import actiondbg; print(actiondbg.whatif.compare.__name__)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("compare\n", "")
