"""The lines of IR at a stop are those that MLIR's printer writes."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest

import actiondbg
from actiondbg.process.stop import Stop
from tests.paths import GOLDEN, INPUTS, ROOT
from tests.tool.breakpoints.test_catch import GPT, LOWER

LOOPS = INPUTS / "dialects" / "loops.mlir"
STRUCTURES = INPUTS / "dialects" / "structures.mlir"
OWN = [*(ROOT / "examples").rglob("*.mlir"), *(GOLDEN / "inputs").glob("*.mlir")]
WHOLE = 1 << 20  # lines
TO_LLVM = (
    "--lower-affine --convert-scf-to-cf --finalize-memref-to-llvm --convert-arith-to-llvm "
    "--convert-func-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts"
)
_COMMENT = re.compile(r" +// (?:no predecessors|preds?: .*|\d+ preds: .*)$")
# In generic form, and whole: the line of an operation with regions has another indentation.
_GENERIC_LINE = re.compile(r' *(?:%[^"]* = )?"\w+\.[^{]* : \([^{]*')


def launch(tool: str, source: Path, *flags: str) -> actiondbg.Session:
    # Excerpts have no aliases.
    options = ["--mlir-print-local-scope", "--allow-unregistered-dialect", "-o", "/dev/null"]
    return actiondbg.launch([tool, str(source), *flags, *options])


def our_lines(session: actiondbg.Session) -> list[str]:
    """Return all lines of the module, as the agent's own printer writes them."""
    session.cursor.module()
    lines = session.ir.excerpt(before=WHOLE, after=WHOLE).lines
    # The printer leaves the blank line of an empty region without indentation.
    return [
        "  " * line.depth + row for line in lines for row in line.text.split("\n") if row.strip()
    ]


def printed_lines(session: actiondbg.Session) -> tuple[list[str], bool]:
    """Return the lines of the module by MLIR's printer, and whether they are in generic form."""
    session.cursor.module()
    with session.ir.print("module", elide=16) as printed:
        lines = [_COMMENT.sub("", line) for line in printed.text.splitlines()]
        return [line for line in lines if line.strip()], printed.generic


def differences(session: actiondbg.Session, printed_first: bool) -> list[tuple[str, str]] | None:
    """Return the lines that differ; None if MLIR prints the module in generic form."""
    if printed_first:  # the first printer assigns the names of the values, the other reuses them
        (theirs, generic), ours = printed_lines(session), our_lines(session)
    else:
        ours, (theirs, generic) = our_lines(session), printed_lines(session)
    if generic:
        return None
    both = zip(ours, theirs, strict=False)
    found = [(our, their) for our, their in both if our != their]
    return found or [("", line) for line in [*ours[len(theirs) :], *theirs[len(ours) :]]]


def compare(session: actiondbg.Session, printed_first: bool, most: int) -> int:
    """Compare at the first stops, and return at how many of them MLIR printed no generic form."""
    compared, stop = 0, session.stop
    assert stop is not None
    while stop.when != "exit" and compared < most:
        found = differences(session, printed_first)
        assert not found, f"{describe(stop)}: {found[:5]}"
        compared += found is not None
        stop = session.continue_()
    return compared


def describe(stop: Stop) -> str:
    return f"{stop.when} #{stop.ordinal} {stop.name}"


@pytest.mark.parametrize("printed_first", [False, True], ids=["excerpt-first", "print-first"])
@pytest.mark.parametrize(
    ("source", "flags", "stops"),
    [
        (LOOPS, "--canonicalize --cse", 4),
        (LOOPS, TO_LLVM, 14),
        (STRUCTURES, "--canonicalize --cse", 4),
        (STRUCTURES, "--convert-linalg-to-loops --lower-affine --canonicalize", 6),
        (STRUCTURES, "--one-shot-bufferize=allow-unknown-ops", 2),
        (STRUCTURES, "--gpu-kernel-outlining --convert-vector-to-scf --convert-vector-to-llvm", 6),
        (STRUCTURES, "--inline --symbol-dce", 3),
    ],
    ids=lambda value: value[2:40] if isinstance(value, str) else "",
)
def test_lines_of_many_dialects(
    mlir_opt: str, source: Path, flags: str, stops: int, printed_first: bool
) -> None:
    with launch(mlir_opt, source, *flags.split()) as session:
        session.start()
        session.breakpoints.add("pass:*")
        session.breakpoints.add("pass:*", after=True)
        assert compare(session, printed_first, 40) >= stops


@pytest.mark.parametrize("source", OWN, ids=lambda path: path.name)
def test_lines_of_our_inputs(mlir_opt: str, source: Path) -> None:
    with launch(mlir_opt, source, "--canonicalize", "--convert-scf-to-cf") as session:
        if session.start().when == "exit":
            return  # not valid on purpose
        session.breakpoints.add("pass:*", after=True)
        assert compare(session, printed_first=False, most=10) >= 2


def test_lines_of_a_network(mlir_opt: str, tmp_path: Path) -> None:
    source = tmp_path / "gpt.mlir"
    source.write_bytes(lzma.decompress(GPT.read_bytes()))
    with launch(mlir_opt, source, LOWER) as session:
        session.start()
        for name in ("cse", "one-shot-bufferize"):
            session.breakpoints.add(f"pass:{name}", after=True, temporary=True)
        assert compare(session, printed_first=False, most=3) == 3


@pytest.mark.parametrize("printed_first", [False, True], ids=["excerpt-first", "print-first"])
def test_lines_inside_a_greedy_rewrite(mlir_opt: str, printed_first: bool) -> None:
    """Values come and go; their names have gaps, which the printer's have not."""
    with launch(mlir_opt, LOOPS, "--canonicalize") as session:
        session.start()
        session.breakpoints.add("pattern:*", outcome="succeeded")
        assert compare(session, printed_first, 12) == 12


def test_lines_of_ir_that_does_not_verify(mlir_opt: str) -> None:
    """In the middle of a conversion MLIR prints all in generic form, we what is wrong only."""
    found = 0
    with launch(mlir_opt, LOOPS, "--lower-affine", "--convert-scf-to-cf") as session:
        session.start()
        session.breakpoints.add("pattern:*", outcome="succeeded")
        stop = session.continue_()
        while stop.when != "exit":
            ours = [line.strip() for line in our_lines(session) if _GENERIC_LINE.fullmatch(line)]
            theirs, generic = printed_lines(session)
            if generic:
                found += len(ours)
                assert not {*ours} - {line.strip() for line in theirs}, describe(stop)
            stop = session.continue_()
    assert found
