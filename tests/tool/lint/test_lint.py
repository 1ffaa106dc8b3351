"""Rules that patterns break on purpose, each beside patterns that keep it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.lint.api import lint_tool
from actiondbg.lint.linter import Linter
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.query.database import open_database
from tests.conftest import LIBRARY
from tests.fakes import command_line
from tests.paths import COMMAND
from tests.tool.lint.conftest import BROKEN, REPEATED, Lint, by_pattern, source

BUILDS = LIBRARY

EXECUTION_MODE = """\
spirv.module Logical OpenCL {
  spirv.func @kernel() "None" {
    spirv.Return
  }
  spirv.EntryPoint "Kernel" @kernel
  spirv.ExecutionMode @kernel "ContractionOff"
}
"""
MATCH = """\
module attributes {transform.with_named_sequence} {
  func.func @f() -> i32 {
    %0 = arith.constant 1 : i32
    return %0 : i32
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.with_pdl_patterns %root : !transform.any_op {
    ^bb0(%inner: !transform.any_op):
      pdl.pattern @constant : benefit(1) {
        %type = pdl.type
        %0 = pdl.operation "arith.constant" -> (%type : !pdl.type)
        pdl.rewrite %0 with "transform.dialect"
      }
      transform.sequence %inner : !transform.any_op failures(propagate) {
      ^bb1(%all: !transform.any_op):
        %found = pdl_match @constant in %all : (!transform.any_op) -> !transform.any_op
        transform.debug.emit_remark_at %found, "matched" : !transform.any_op
      }
    }
    transform.yield
  }
}
"""


def test_a_command_line_without_a_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="command line is empty"):
        lint_tool([])


def test_each_pattern_breaks_its_rules_and_no_other(lint: Lint, tool: list[str]) -> None:
    done = lint("--format", "json", "--", *tool)
    assert (done.returncode, done.stderr) == (1, "")
    expected = {name: rules - REPEATED for name, rules in BROKEN.items() if rules - REPEATED}
    assert by_pattern(done.stdout) == expected


def test_no_pattern_is_blamed_for_what_one_in_another_function_broke(
    lint: Lint, tool: list[str], tmp_path: Path
) -> None:
    # In one iteration, "moved" comes first, then "invalid-elsewhere", then "modified".
    tool[-1] = "--pass-pipeline=builtin.module(rules)"
    (tmp_path / "rules.mlir").write_text(source("invalid-elsewhere", "moved"))
    assert by_pattern(lint("--format", "json", "--", *tool).stdout) == {}


def test_a_finding_names_what_changed_and_where(lint: Lint, tool: list[str]) -> None:
    done = lint("--rule", "not-notified", "--format", "json", "--", *tool)
    details = {each["subject"]: each["detail"] for each in json.loads(done.stdout)["findings"]}
    assert details == {
        "modified-silently": "modified builtin.unrealized_conversion_cast",
        "neighbour-modified-silently": "modified test.previous",
        "erased-silently": "erased test.next",
        "moved-silently": "moved test.next",
        "inserted-silently": "inserted builtin.unrealized_conversion_cast",
        "uses-replaced-silently": "modified builtin.unrealized_conversion_cast",
        "module-modified-silently": "modified builtin.module",
        "endless": "modified builtin.unrealized_conversion_cast",
        "long": "modified builtin.unrealized_conversion_cast",
    }
    (erased,) = (
        each["place"]
        for each in json.loads(done.stdout)["findings"]
        if each["subject"] == "erased-silently"
    )
    assert (erased["function"], erased["op"]) == (
        "erased_silently",
        "builtin.unrealized_conversion_cast",
    )


def test_other_runs_show_unstable_output_and_reads_of_freed_memory(
    lint: Lint, tool: list[str]
) -> None:
    rules = [word for rule in sorted(REPEATED) for word in ("--rule", rule)]
    done = lint("--rerun", *rules, "--format", "json", "--", *tool)
    expected = {name: rules for name, rules in BROKEN.items() if rules & REPEATED}
    # The one that is tried first in the opposite order.
    expected["other-order"] = expected.pop("one-order")
    assert by_pattern(done.stdout) == expected


def test_a_run_without_reuse_shows_what_depends_on_the_reuse_of_memory(
    lint: Lint, tool: list[str], tmp_path: Path
) -> None:
    (tmp_path / "rules.mlir").write_text(source("modified", "reused"))
    done = lint("--rerun", "--format", "json", "--", *tool)
    assert by_pattern(done.stdout) == {"reused": {"unstable-output"}}


def test_a_further_run_that_does_not_end_is_terminated(
    lint: Lint, tool: list[str], tmp_path: Path
) -> None:
    (tmp_path / "rules.mlir").write_text(source("ends", "modified"))
    done = lint("--rerun", "--rule", "order-dependent", "--format", "json", "--", *tool)
    (found,) = json.loads(done.stdout)["findings"]
    assert (found["subject"], found["detail"]) == ("never-ends", "the tool does not end")


def test_the_tools_output_is_as_without_checks(tool: list[str], tmp_path: Path) -> None:
    stable = [each for each in BROKEN if not BROKEN[each] & REPEATED]
    (tmp_path / "rules.mlir").write_text(source(*stable))
    bare = subprocess.run(tool, cwd=tmp_path, capture_output=True, check=True)
    run = record(
        tool, tmp_path / "run.adbrec", checks=True, cwd=tmp_path, stdout=tmp_path / "output"
    )
    assert run.status == 0
    assert (tmp_path / "output").read_bytes() == bare.stdout


def test_a_baseline_hides_what_is_known(lint: Lint, tool: list[str], tmp_path: Path) -> None:
    (tmp_path / "rules.mlir").write_text(source("nothing"))
    written = lint("--write-baseline", "known.json", "--", *tool)
    assert (written.returncode, written.stdout) == (0, "0 findings in 1 run, 1 known.\n")
    (tmp_path / "rules.mlir").write_text(source("nothing", "erased-silently"))
    done = lint("--baseline", "known.json", "--", *tool)
    assert done.returncode == 1
    assert "erased-silently" in done.stdout and "nothing:" not in done.stdout
    assert done.stdout.endswith("1 finding in 1 run, 1 known.\n")


def test_of_several_recordings_the_smallest_run_is_shown_and_dead_passes_are_found(
    lint: Lint, tool: list[str], tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()
    for name, rules in (("large", ("nothing", "modified")), ("small", ("nothing",))):
        (tmp_path / f"{name}.mlir").write_text(source(*rules))
        argv = [*tool[:1], f"{name}.mlir", *tool[2:-1]]
        pipeline = "--pass-pipeline=builtin.module(func.func(rules),symbol-dce)"
        record(
            [*argv, pipeline],
            tmp_path / "runs" / f"{name}.adbrec",
            checks=True,
            cwd=tmp_path,
            stdout=os.devnull,
        )
    rules = ("--rule", "success-without-change", "--rule", "dead-pass")
    done = lint(*rules, "--format", "json", "runs")
    first, dead = json.loads(done.stdout)["findings"]
    assert (first["rule"], first["subject"], first["runs"]) == (
        "success-without-change",
        "nothing",
        2,
    )
    assert first["place"]["command"][1] == "small.mlir"
    assert (dead["rule"], dead["subject"], dead["times"]) == ("dead-pass", "symbol-dce", 2)


def test_recordings_without_checks_are_named_and_their_commands_run_again(
    lint: Lint, tool: list[str], tmp_path: Path
) -> None:
    (tmp_path / "rules.mlir").write_text(source("modified-silently", "endless"))
    record(tool, tmp_path / "run.adbrec", cwd=tmp_path, stdout=os.devnull)
    done = lint("--format", "json", "run.adbrec")
    assert by_pattern(done.stdout) == {"endless": {"no-convergence"}}
    assert "1 recording without checks: use --rerun" in done.stderr
    again = lint("--rerun", "--rule", "not-notified", "--format", "json", "run.adbrec")
    assert by_pattern(again.stdout) == {
        "modified-silently": {"not-notified"},
        "endless": {"not-notified"},
    }
    (tmp_path / "rules.mlir").unlink()
    gone = lint("--rerun", "run.adbrec")
    assert "1 command could not be run again" in gone.stderr
    assert gone.stdout == "0 findings in 0 runs.\n"


def test_a_finding_counts_each_action_of_the_last_iteration(
    lint: Lint, tool: list[str], tmp_path: Path
) -> None:
    cast = '  %{} = builtin.unrealized_conversion_cast %a : i32 to i64 {{rule = "endless"}}\n'
    casts = "".join(cast.format(number) for number in range(3))
    use = '  "test.use"(%0, %1, %2) : (i64, i64, i64) -> ()\n'
    text = f"func.func @f(%a: i32) {{\n{casts}{use}  return\n}}\n"
    (tmp_path / "rules.mlir").write_text(text)
    record(tool, tmp_path / "run.adbrec", cwd=tmp_path, stdout=os.devnull)
    done = lint("--rule", "no-convergence", "--format", "json", "run.adbrec")
    (finding,) = json.loads(done.stdout)["findings"]
    with open_database(open_recording(tmp_path / "run.adbrec")) as database:
        query = """
            WITH applied AS (FROM actions WHERE name = ? AND outcome <> 'failed')
            SELECT ordinal, self_ns FROM applied
            WHERE parent = (SELECT max(parent) FROM applied)
        """
        expected = database.execute(query, [finding["subject"]]).fetchall()
    assert len(expected) == 3
    assert (finding["times"], finding["place"]["ordinal"]) == (3, min(expected)[0])
    assert finding["seconds"] == pytest.approx(sum(spent for _, spent in expected) / 1e9)


def test_a_crash_has_the_findings_before_it(lint: Lint, tool: list[str], tmp_path: Path) -> None:
    (tmp_path / "rules.mlir").write_text(source("nothing", "crash"))
    done = lint("--format", "json", "--", *tool)
    assert by_pattern(done.stdout) == {"nothing": {"success-without-change"}}
    assert "actiondbg: The tool ended with signal SIGABRT: what it did" in done.stderr
    assert "Stack dump" not in done.stderr


def test_the_tools_own_messages_are_shown(lint: Lint, mlir_opt: str) -> None:
    done = lint("--", mlir_opt, "--no-such-option")
    assert "Unknown command line argument '--no-such-option'" in done.stderr


def test_bad_input_is_one_sentence(lint: Lint) -> None:
    for words, status, expected in (
        (
            ["--rule", "unstable-output", "--", "true"],
            2,
            "The rule unstable-output compares several runs: give --rerun, too.",
        ),
        (["--rule", "none", "--", "true"], 2, "'none' is not a rule: use changed-but-failed"),
        (["--baseline", "none.json", "--", "true"], 1, "'none.json' cannot be read"),
        (["--", "true"], 1, "There is nothing to check: 'true' made no MLIR context"),
        ([], 2, "the tool or recording is missing"),
        (["--", "no-such-tool"], 3, "no-such-tool"),
    ):
        done = lint(*words)
        assert done.returncode == status, done.stderr
        assert expected in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr


def test_a_tool_that_refuses_its_input_is_not_clean(
    lint: Lint, mlir_opt: str, tmp_path: Path
) -> None:
    (tmp_path / "in.mlir").write_text("nothing")
    done = lint("--", mlir_opt, "in.mlir", "--canonicalize")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        f"actiondbg: There is nothing to check: {mlir_opt!r} ended with status 1 before its "
        "first action."
    )


def test_the_tables_of_a_recording_have_the_findings(tool: list[str], tmp_path: Path) -> None:
    run = record(tool, tmp_path / "run.adbrec", checks=True, cwd=tmp_path, stdout=os.devnull)
    assert run.path is not None
    recording = open_recording(run.path)
    assert recording.header.checks
    rules = recording.table("findings", ["rule"]).column("rule").to_pylist()
    assert set(rules) == {
        "changed-but-failed",
        "success-without-change",
        "not-notified",
        "invalid-ir",
        "lost-location",
    }
    linter = Linter()
    linter.add(recording, None)
    assert linter.unchecked == 0


def test_the_command_of_a_suites_run_is_that_of_its_tool(
    lint: Lint, tool: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver may find it on a path of its own; a namesake on ours is another tool."""
    (tmp_path / "rules.mlir").write_text(source("nothing"))
    script = tmp_path / "driver.sh"
    words = " ".join(f"'{each}'" for each in ["mlir-opt", *tool[1:]])
    script.write_text(f"PATH={Path(tool[0]).parent}:$PATH\n{words}\n")
    command_line.run("suite", "record", "-q", "-o", "suite", "--", "sh", str(script), check=True)
    namesake = tmp_path / "bin/mlir-opt"
    namesake.parent.mkdir()
    namesake.write_text("#!/bin/sh\nexit 1\n")
    namesake.chmod(0o755)
    monkeypatch.setenv("PATH", str(namesake.parent), prepend=":")
    done = lint("--rerun", "--rule", "success-without-change", "--format", "json", "suite")
    assert by_pattern(done.stdout) == {"nothing": {"success-without-change"}}
    assert "could not be run" not in done.stderr


def test_patterns_of_a_conversion_keep_locations(lint: Lint, mlir_opt: str, tmp_path: Path) -> None:
    """In LLVM 22, that of spirv.ExecutionMode makes a global without a location."""
    (tmp_path / "mode.mlir").write_text(EXECUTION_MODE)
    done = lint("--format", "json", "--", mlir_opt, "mode.mlir", "--convert-spirv-to-llvm")
    assert by_pattern(done.stdout) == {"ExecutionModePattern": {"lost-location"}}


def test_a_pattern_that_only_matches_is_none_that_does_nothing(
    lint: Lint, mlir_opt: str, tmp_path: Path
) -> None:
    """The transform dialect asks PDL patterns which operations match."""
    (tmp_path / "match.mlir").write_text(MATCH)
    done = lint("--format", "json", "--", mlir_opt, "match.mlir", "--transform-interpreter")
    assert json.loads(done.stdout) == {"findings": [], "runs": 1, "known": 0}
    assert "matched" in done.stderr


def test_an_open_pipe_is_not_read(tool: list[str], tmp_path: Path) -> None:
    """An editor or a driver may hold the standard input open: the tool has an input file."""
    with subprocess.Popen(
        [COMMAND, "lint", "--", *tool],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as linting:
        assert linting.stdout is not None
        assert "in 1 run" in linting.stdout.read()
