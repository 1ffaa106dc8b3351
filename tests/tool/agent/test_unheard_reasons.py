"""Reasons of patterns whose driver has no listener, and what is said where none can be heard."""

from __future__ import annotations

import subprocess
from pathlib import Path

import actiondbg
from actiondbg.recording import open_recording
from tests.fakes import command_line
from tests.paths import INPUTS

WALKED = INPUTS / "replicated.mlir"
ARGUMENTS = [
    str(WALKED),
    "--pass-pipeline=builtin.module(spirv.module(spirv-promote-to-replicated-constants))",
]
WHY_NOT = ["--batch", "-nx", "-ex", "run", "-ex", "why-not ConstantOp*", "--"]
HEARD = 'failed: "composite is not splat"'
UNHEARD = "failed; the agent cannot hear why"


def test_reasons_are_heard_in_a_walk_without_a_listener(mlir_opt: str, tmp_path: Path) -> None:
    argv = [mlir_opt, *ARGUMENTS]
    alone = subprocess.run(argv, capture_output=True, text=True, check=True)
    with actiondbg.launch(argv) as session:
        session.run()
        attempts = session.past.why_not("ConstantOp*").attempts
        assert session.target.output() == alone.stdout
    assert [each.outcome.reasons for each in attempts] == [["composite is not splat"], []]
    recording = tmp_path / "run.adbrec"
    done = command_line.run("record", "--lineage", "-o", recording, "--", *argv)
    assert done.stdout == alone.stdout
    rows = open_recording(recording).table("actions").to_pylist()
    assert [
        (row["outcome"], row["reason"], row["unheard"])
        for row in rows
        if row["tag"] == "apply-pattern"
    ] == [("failed", "composite is not splat", False), ("succeeded", None, False)]


def test_what_cannot_be_heard_is_told(mlir_opt: str, tmp_path: Path) -> None:
    argv = [mlir_opt, *ARGUMENTS]
    heard = command_line.run(*WHY_NOT, *argv)
    assert HEARD in heard.stdout
    live = command_line.run("--without", "reasons", *WHY_NOT, *argv)
    recording = str(tmp_path / "run.adbrec")
    command_line.run("record", "--without", "reasons", "-o", recording, "--", *argv)
    ordinals = ["-ex", "continue", "-ex", "why-not ConstantOp*"]
    recorded = command_line.run("open", recording, "--batch", "-nx", *ordinals)
    for said in (live.stdout, recorded.stdout):
        assert UNHEARD in said
        assert "gave no reason" not in said
