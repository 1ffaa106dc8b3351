"""The check of tests that cannot fail."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from scripts.check_tests import audit

HELPER = """
    def check(found):
        assert found

    def check_all(found):
        check(found)
"""


def faults(text: str) -> list[str]:
    source = textwrap.dedent(HELPER) + textwrap.dedent(text)
    return [fault for _, _, fault in audit({Path("test_case.py"): ast.parse(source)})]


@pytest.mark.parametrize(
    ("fault", "body"),
    [
        ("the test asserts nothing", "run()"),
        ("the test may end without an assertion", "if run():\n    assert one"),
        ("the test may end without an assertion", "for one in ():\n    assert one"),
        ("the test may end without an assertion", "while stop.when != 'exit':\n    check(stop)"),
        ("the test may end without an assertion", "def inner():\n    assert one\nrun()"),
        ("the test may end without an assertion", "match one:\n    case 1:\n        assert one"),
        ("'found.rows' may be empty", "assert found\nfor one in found.rows:\n    assert one"),
        ("'rows()' may be empty", "assert all(one for one in rows())"),
        ("'rows' may be empty", "assert True and all(one for one in rows)"),
        ("'sorted(rows)' may be empty", "assert one\nfor two in sorted(rows):\n    check(two)"),
        ("'range(count)' may be empty", "assert one\nfor two in range(count):\n    check(two)"),
        ("the loop with assertions", "assert one\nwhile go():\n    assert one\n    two = 1"),
        ("an assertion is 'A or B'", "assert one or two"),
        ("a predicate that is the same for everything", "assert run([('a', lambda _: True)])"),
        ("changed to what it is compared with", "want.start = each.start\nassert each == want"),
        ("changed to what it is compared with", "want['ts'] = each['ts']\nassert want == each"),
    ],
)  # fmt: skip
def test_idle_assertions_are_found(fault: str, body: str) -> None:
    assert any(fault in one for one in faults(f"def test_it():\n{textwrap.indent(body, '    ')}"))


@pytest.mark.parametrize(
    "body",
    [
        "assert one",
        "with pytest.raises(ValueError):\n    run()",
        "if run():\n    assert one\nelse:\n    check_all(one)",
        "for one in (1, 2):\n    assert one",
        "for one in CASES:\n    assert one",
        "for one in some(run()):\n    assert one",
        "rows = run()\nassert len(rows) == 3\nfor one in rows:\n    assert one",
        "assert run() == rows and all(one for one in rows)",
        "for one in (1, 2):\n    assert rows\n    for two in rows:\n        check(two)",
        "for one in range(COUNT):\n    check(one)",
        "pairs = [(one, one) for one in range(3)]\nfor one, two in pairs:\n    assert one == two",
        "for one, two in zip(run(), (1, 2), strict=True):\n    assert rows\nassert (1, 2)",
        "count = 0\nwhile stop:\n    assert one\n    count += 1\nassert count > 2",
        "while not run():\n    assert now() < deadline\n    time.sleep(1)\nassert one",
        "assert (one or '') == two",
        "result.patch(lambda _: True)\nassert one",
        "want.start = 3\nassert each == want",
    ],
)  # fmt: skip
def test_other_tests_are_left_alone(body: str) -> None:
    text = f"CASES = [1, 2]\nCOUNT = 3\ndef test_it():\n{textwrap.indent(body, '    ')}"
    assert faults(text) == []


def test_examples_that_are_made_up_may_be_empty() -> None:
    assert (
        faults("@given(st.lists())\ndef test_it(rows):\n    for one in rows:\n        assert one")
        == []
    )
