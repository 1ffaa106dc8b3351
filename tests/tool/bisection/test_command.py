"""``actiondbg bisect`` as a person types it, and the command of the shell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LIBRARY
from tests.fakes import command_line
from tests.fakes.folds import write_folds
from tests.paths import COMMAND
from tests.processes import descendants, is_alive, wait_for_end, wait_until

BUILDS = LIBRARY

COUNT = 40
# Bad where the addition in @f24 was folded.
JUDGE = "grep -A2 '@f24(' {} | grep -q addi"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return write_folds(Path("folds.mlir"), COUNT)


def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return command_line.run("bisect", *words, stdin=stdin)


def found(*words: str, stdin: str = "") -> dict[str, Any]:
    done = run("--json", *words, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def without(result: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Leave out keys, and how often the plain tool ran, which depends on the load."""
    keys = (*keys, "plain_bad", "plain_runs")
    return {key: value for key, value in result.items() if key not in keys}


# --- what is printed --------------------------------------------------------------------


def test_json_is_one_object(mlir_opt: str, source: str) -> None:
    result = found("--test", JUDGE, "--", mlir_opt, source, "--canonicalize")
    assert (result["verdict"], result["confirmed"]) == ("found", "good")
    assert (result["tag"], result["name"], result["op"]) == ("fold", "arith.addi", "arith.addi")
    assert (result["pass"], result["location"]) == ("canonicalize", "folds.mlir:123:8")
    assert (result["candidates"], result["skips"]) == (COUNT, [])
    assert result["trials"] <= 6 + 3
    assert result["reproducer"] == str(Path("bisect-mlir-opt").absolute())
    assert result["reproducer_verified"] is True


def test_text_is_printed(mlir_opt: str, source: str) -> None:
    done = run("--test", JUDGE, "-o", "here", mlir_opt, source, "--canonicalize")
    assert done.returncode == 0
    first, *lines = done.stdout.splitlines()
    assert first.startswith("Found: #") and "fold (arith.addi)" in first
    assert "turns good to bad. The whole run without it is good." in first
    assert any("GreedyPatternRewriteIteration (iteration 1)" in line for line in lines)
    assert any(line.startswith("Pass: builtin.module(canonicalize{") for line in lines)
    assert "Outcome: succeeded; folded to values: block argument 0 of @" in done.stdout
    assert f"Reproducer: {Path('here').absolute()}/repro.sh (verified: shows good" in (done.stdout)
    assert "bisect: the search: 3 trials, about" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_the_exit_code_is_0_only_for_found(mlir_opt: str, source: str) -> None:
    for judge, verdict in (("true", "not-bad"), ("false", "not-good-at-start")):
        done = run("--json", "--test", judge, "--", mlir_opt, source, "--canonicalize")
        assert (done.returncode, json.loads(done.stdout)["verdict"]) == (1, verdict)
    assert os.listdir() == ["folds.mlir"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--test", "no-such-command"], 1, "cannot be run"),
        (["--test", "true", "--crash"], 2, "--test and --crash were given"),
        ([], 2, "but none was given"),
        (["--crash", "--entry", "f"], 2, "--entry is an option of --execute"),
        (["--test", "true", "-j", "0"], 2, "not a positive integer"),
        (["--test", "true", "--mode", "last"], 2, "not one of first, minimize, skip"),
        (["--filecheck", "nowhere"], 1, "no file 'nowhere'"),
        (["--test", "true", "--resume"], 2, "no bisection of mlir-opt to resume"),
    ],
)
def test_errors_are_one_sentence(
    mlir_opt: str, source: str, words: list[str], code: int, told: str
) -> None:
    done = run(*words, "--", mlir_opt, source, "--canonicalize")
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr and "Traceback" not in done.stderr
    assert os.listdir() == ["folds.mlir"]


def test_missing_tool_is_an_error(source: str) -> None:
    assert run("--crash").returncode == 2
    done = run("--crash", "--", "no-such-tool", source)
    assert done.returncode == 3 and "no-such-tool" in done.stderr
    assert "--filecheck FILE" in run("--help").stdout


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        (["folds.mlir", "--canonicalise"], "Unknown command line argument '--canonicalise'."),
        (["nowhere.mlir", "--cse"], "'nowhere.mlir': No such file or directory"),
        (["broken.mlir", "--cse"], "broken.mlir:1:25: error: use of undeclared SSA value name"),
    ],
)
def test_a_tool_that_fails_is_quoted(
    mlir_opt: str, source: str, words: list[str], quoted: str
) -> None:
    Path("broken.mlir").write_text("func.func @f() { return %x : i32 }\n")
    for oracle in (["--test", "true"], ["--crash"]):
        done = run(*oracle, "--", mlir_opt, *words)
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.startswith("Untestable: The tool failed before its first action (")
        assert quoted in done.stdout and "check its command line" in done.stdout


def test_bad_output_of_a_tool_without_actions_blames_no_action(mlir_opt: str, source: str) -> None:
    done = run("--test", "exit 1", "--", mlir_opt, source)
    assert (done.returncode, done.stderr) == (1, "")
    assert "The output is bad (the test ended with status 1), and the tool ended" in done.stdout
    assert "before its first action: no action is to blame" in done.stdout


STORE = """\
func.func @store(%m: memref<4xi1>, %i: index) {
  %c0 = arith.constant false
  memref.store %c0, %m[%i] : memref<4xi1>
  return
}
"""


def test_an_assertion_is_quoted(folds: str) -> None:
    """Of the tool, of the lowering of --execute, and of a test; of the build with assertions."""
    Path("store.mlir").write_text(STORE)
    tool = ["mlir-opt", "store.mlir", "--canonicalize"]
    lower = "--finalize-memref-to-llvm"
    for words in (
        ["--test", "true", "--", *tool, lower],
        ["--execute", "--", *tool],
        ["--compare", "--", *tool],  # its former name
        ["--test", f"mlir-opt {lower} {{}}", "--", *tool],
    ):
        done = run(*words)
        said = done.stdout + done.stderr
        assert done.returncode == 1 and "Assertion `" in said and "' failed" in said
        assert "Stack dump" not in said and "PLEASE" not in said


def test_file_named_bisect_is_not_run_as_a_tool(source: str) -> None:
    words = ["-nx", "--batch", "-ex", "run", "--", "bisect"]
    done = command_line.run(*words)
    assert done.returncode == 3 and "'bisect'" in done.stderr


# --- modes and jobs -----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["first", "minimize", "skip"])
def test_jobs_find_the_same_culprit(mlir_opt: str, source: str, mode: str) -> None:
    words = ("--mode", mode, "--test", JUDGE)
    tool = ("--", mlir_opt, source, "--canonicalize")
    alone = found(*words, "-o", "alone", *tool)
    together = found(*words, "-j2", "-o", "together", *tool)
    differ = ("seconds", "trials", "oracle_runs", "reproducer")
    assert without(alone, *differ) == without(together, *differ)
    if mode == "skip":
        assert [skip["function"] for skip in alone["skips"]] == ["f24"]
    if mode == "minimize":
        assert [each["function"] for each in alone["applied"]] == ["f24"]
        assert len(alone["skips"]) == COUNT - 1


# --- a stage of a chain -------------------------------------------------------------------


def test_a_stage_of_a_chain(mlir_opt: str, source: str) -> None:
    """What comes before is the input, what comes after is the oracle's."""
    after = f"'{mlir_opt}' --cse {{}} -o after.mlir && grep -A2 '@f24(' after.mlir | grep -q addi"
    before = subprocess.run([mlir_opt, source, "--cse"], capture_output=True, text=True)
    result = found("--test", after, "--", mlir_opt, "--canonicalize", stdin=before.stdout)
    assert result["function"] == "f24"
    assert (Path("bisect-mlir-opt") / "input.mlir").read_text() == before.stdout


# --- an end in the middle ------------------------------------------------------------------


def _begin(mlir_opt: str, source: str, *words: str) -> subprocess.Popen[str]:
    """Begin a bisection whose test waits from its fifth trial on until a file is there."""
    here = Path.cwd()
    Path("judge.sh").write_text(
        f"echo x >> {here}/judged\n"
        f'[ "$(wc -l < {here}/judged)" -lt 5 ] || while [ ! -e {here}/go ]; do sleep 0.05; done\n'
        "grep -A2 '@f24(' \"$1\" | grep -q addi\n"
    )
    tool = [mlir_opt, source, "--canonicalize"]
    return subprocess.Popen(
        [COMMAND, "bisect", *words, "--test", "sh judge.sh {}", "-o", "here", "--", *tool],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _is_waiting() -> bool:
    judged = Path("judged")
    return judged.is_file() and len(judged.read_text().splitlines()) >= 5


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_ctrl_c_keeps_the_verdicts(mlir_opt: str, source: str, jobs: str) -> None:
    process = _begin(mlir_opt, source, jobs, "--json")
    wait_until(_is_waiting)
    family = descendants(process.pid)
    assert len(family) >= 3
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "--resume -o here" in err and "Traceback" not in err
    wait_for_end(family)
    known = json.loads(Path("here/state.json").read_text())["verdicts"]
    assert len(known) >= 3

    Path("go").touch()
    Path("judged").write_text("")
    tool = (mlir_opt, source, "--canonicalize")
    words = ("--test", "sh judge.sh {}", "-o", "here", "--resume", "--", *tool)
    result = found(jobs, *words)
    again = found("--test", "sh judge.sh {}", "-o", "anew", "--", *tool)
    differ = ("seconds", "trials", "oracle_runs", "reproducer", "notes")
    assert without(result, *differ) == without(again, *differ)
    assert result["notes"][0] == f"Resumed with {len(known)} verdicts."
    if jobs == "-j1":
        assert result["trials"] == again["trials"] - len(known)


def test_another_bisection_is_not_resumed(mlir_opt: str, source: str) -> None:
    process = _begin(mlir_opt, source)
    wait_until(_is_waiting)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    Path("go").touch()
    kept = Path("here/state.json").read_text()
    words = ("-o", "here", "--resume", "--test", "sh judge.sh {}")
    for other in ([mlir_opt, source, "--cse"], [mlir_opt, source, "--canonicalize"]):
        if "--canonicalize" in other:
            Path(source).write_text(Path(source).read_text() + "\n")
        done = run(*words, "--", *other)
        assert done.returncode == 2 and "cannot be resumed" in done.stderr
        assert Path("here/state.json").read_text() == kept
    done = run("-o", "here", "--test", "sh judge.sh {}", "--", mlir_opt, source)
    assert done.returncode == 2 and "use --resume" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_killed_bisection_leaves_no_process(
    mlir_opt: str, source: str, number: signal.Signals, jobs: str
) -> None:
    process = _begin(mlir_opt, source, jobs)
    wait_until(_is_waiting)
    family = descendants(process.pid)
    assert len([pid for pid in family if is_alive(pid)]) >= 5  # the tool, its forks, the test
    process.send_signal(number)
    process.communicate(timeout=60)
    wait_for_end(family)


# --- the command of the shell ----------------------------------------------------------------


def test_the_command_of_the_shell(mlir_opt: str, source: str) -> None:
    line = f'bisect --test "{JUDGE}" --jobs 2 -o here'
    words = ["-nx", "--json", "--batch", "-ex", "start", "-ex", line, "-ex", "info program"]
    done = command_line.run(*words, mlir_opt, source, "--canonicalize")
    assert done.returncode == 0, done.stderr
    started, bisected, program = map(json.loads, done.stdout.splitlines())
    assert started["ok"] and bisected["ok"]
    assert bisected["result"]["function"] == "f24"
    assert program["result"]["state"] == "stopped"  # where it was
    assert Path("here/report.md").is_file()


def test_the_command_of_the_shell_in_words(mlir_opt: str, source: str) -> None:
    lines = [f'bisect --test "{JUDGE}"', "bisect", "bisect --test true --output other"]
    words = ["-nx", "--batch", "--keep-going", *(w for e in lines for w in ("-ex", e))]
    done = command_line.run(*words, mlir_opt, source, "--canonicalize")
    assert "Found: #" in done.stdout and "Not bad: " in done.stdout
    assert "bisect needs one oracle" in done.stderr


# --- the choice of candidates -------------------------------------------------------------


@pytest.mark.parametrize(
    "filters",
    [
        ("fold:* and func:f2*",),
        ("in:canonicalize if line > 100",),
        ("folds.mlir:1-60", "func:f3?"),
        ("pass:cse",),
        ('tag:fold if function !~ "f*5" and depth > 2', "func:f3"),
    ],
)
def test_filters_select_what_they_select_in_a_log(
    mlir_opt: str, source: str, filters: tuple[str, ...]
) -> None:
    """The agent evaluates them in each trial, and SQL over a recording."""
    line = ["--", mlir_opt, source, "--canonicalize", "--cse"]
    words = [word for each in filters for word in ("--filter", each)]
    assert command_line.run("record", "-q", "-o", "run.adbrec", *line).returncode == 0
    log = command_line.run("log", "--json", *words, "run.adbrec").stdout
    listed = [json.loads(row) for row in log.splitlines()]
    changed = [one for one in listed if one["tag"] in ("fold", "apply-pattern") and one["changed"]]
    passes = [one for one in listed if one["name"] == "cse"]
    done = run("--json", "--test", "! grep -q '@f24' {}", *words, *line)
    result = json.loads(done.stdout)
    assert result["verdict"] == "not-good-at-start"
    expected = len(changed) + len(passes)
    every = "the only candidate is" if expected == 1 else f"all {expected} candidates are"
    assert f"when {every} skipped" in result["message"]


def test_a_filter_narrows_the_search(mlir_opt: str, source: str) -> None:
    words = ["--test", JUDGE, "--", mlir_opt, source, "--canonicalize", "--cse"]
    inside = found("--filter", "in:canonicalize#1 and folds.mlir:120-130", *words)
    assert (inside["verdict"], inside["location"]) == ("found", "folds.mlir:123:8")
    assert inside["candidates"] < COUNT
    outside = run("--filter", "in:canonicalize#2", *words)
    assert outside.returncode == 1
    assert "no candidates with --filter 'in:canonicalize#2': widen" in outside.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--filter", "#12"], "selects by a number"),
        (["--filter", "pattern:A if hits > 2"], "not known before an action"),
        (["--filter", "in:"], "in:"),
        (["--tag", "["], "not closed"),
    ],
)
def test_a_wrong_choice_of_candidates_is_bad_usage(
    mlir_opt: str, source: str, words: list[str], told: str
) -> None:
    done = run(*words, "--test", "true", "--", mlir_opt, source, "--canonicalize")
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert os.listdir() == ["folds.mlir"]


def test_nothing_in_a_pass_that_always_runs_is_a_candidate(mlir_opt: str, source: str) -> None:
    """Not even a pass, as of those that a pass runs again and again."""
    nested = "--pass-pipeline=builtin.module(composite-fixed-point-pass{pipeline=cse})"
    words = ["--test", "false", "--always", "composite-fixed-point-pass"]
    result = json.loads(run("--json", *words, "--", mlir_opt, source, nested).stdout)
    assert result["verdict"] == "not-good-at-start"
    assert "there are no candidates with --always" in result["message"]


def test_a_module_without_a_line_has_no_place(mlir_opt: str, tmp_path: Path) -> None:
    """The parser gives a module that the input does not write the location FILE:0:0."""
    (tmp_path / "a.mlir").write_text("func.func private @gone() {\n  return\n}\n")
    words = ["bisect", "--test", "grep -q gone {}", "-o", "out", "--", mlir_opt, "a.mlir"]
    done = command_line.run(*words, "--symbol-dce", cwd=tmp_path)
    assert "Found: #1 pass-execution (symbol-dce) on builtin.module turns good" in done.stdout
    written = [each for each in (tmp_path / "out").rglob("*") if each.is_file()]
    assert {"report.md", "report.html", "repro.sh"} <= {each.name for each in written}
    texts = [each.read_text() for each in written if each.suffix in (".md", ".html", ".sh", ".adb")]
    assert ":0:0" not in done.stdout + "".join(texts)
