"""The parts of a reproducer: pipelines, command lines, oracles in the shell's words, the script."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from actiondbg.analysis.textual_pipelines import continuations, parse_pipeline
from actiondbg.bisection.command_runner import CommandRunner
from actiondbg.bisection.copied_files import CopiedFiles
from actiondbg.bisection.execute_oracle import Execute, first_difference
from actiondbg.bisection.folder import RESERVED, FolderFile
from actiondbg.bisection.oracles import Command as Shell
from actiondbg.bisection.oracles import (
    Crash,
    Diagnostic,
    FileCheck,
    Oracle,
    OracleSetup,
    PredicateOracle,
    ShellJudge,
    Verify,
)
from actiondbg.bisection.reproducer.run import ReproducerRun, StepResult
from actiondbg.bisection.reproducer.scripts import (
    OUT,
    ScriptStep,
    make_script,
    read_verdicts,
)
from actiondbg.bisection.reproducer.strategies import (
    PortableCommand,
    StrategyFacts,
    command_text,
    make_portable,
    strategies,
    with_source,
)
from actiondbg.bisection.verdict_store import VerdictStore
from actiondbg.errors import FileNotWritten
from actiondbg.validation.validate_oracle import Validate

# --- pipelines ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "builtin.module(cse)",
        "builtin.module(func.func(cse,canonicalize{max-iterations=10 top-down=true}),cse)",
        "any(inline{default-pipeline=canonicalize op-pipelines={a(b,c),d(e{f=g})}},sccp)",
        "builtin.module()",
    ],
)
def test_a_pipeline_is_read_and_written(text: str) -> None:
    assert str(parse_pipeline(text)) == text


@pytest.mark.parametrize("text", ["cse", "", "a(b", "a(b)c", "a(b),c(d)", "a(,)", "a({x})"])
def test_invalid_pipeline_is_refused(text: str) -> None:
    assert parse_pipeline(text) is None


def test_a_pipeline_is_cut_at_each_place_of_a_pass() -> None:
    whole = "builtin.module(cse,func.func(sccp,cse),func.func(cse),inline)"
    assert continuations(whole, "builtin.module(func.func(cse))") == [
        (whole, "builtin.module(func.func(sccp,cse),func.func(cse),inline)"),
        (
            "builtin.module(func.func(cse),func.func(cse),inline)",
            "builtin.module(func.func(cse),inline)",
        ),
        ("builtin.module(func.func(cse),inline)", "builtin.module(inline)"),
    ]
    assert continuations(whole, "builtin.module(cse{x=1})") == []
    assert continuations("cse", "builtin.module(cse)") == []


# --- command lines in another folder ----------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with an input, a script that sources another, and a library."""
    (tmp_path / "in put.mlir").write_text("module {}\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/check.sh").write_text('#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n')
    (tmp_path / "sub/lib.sh").write_text("true\n")
    (tmp_path / "sub/other").write_text("not named\n")
    (tmp_path / "plugin.so").write_bytes(b"\x7fELF...")
    (tmp_path / "d.irdl").write_text("module {}\n")
    (tmp_path / "cse").write_text("has the name of a pass\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_command_line_is_brought_into_another_folder(here: Path) -> None:
    copies = CopiedFiles(here)
    argv = ["mlir-opt", "in put.mlir", "--irdl-file=d.irdl", "--load-pass-plugin=plugin.so"]
    argv += ["--pass-pipeline=builtin.module(cse)", "-o", "x.mlir", "--verify-each=0"]
    command = make_portable(argv, copies, None)
    assert command.args == [
        "input.mlir",
        "--irdl-file=d.irdl",
        f"--load-pass-plugin={here}/plugin.so",
        "--pass-pipeline=builtin.module(cse)",
        "-o",
        OUT,
        "--verify-each=0",
    ]
    assert copies.files == {"input.mlir": here / "in put.mlir", "d.irdl": here / "d.irdl"}
    assert with_source(command, "before.mlir", ["--cse"]) == [
        "before.mlir",
        "--irdl-file=d.irdl",
        f"--load-pass-plugin={here}/plugin.so",
        "--verify-each=0",
        "--cse",
        "-o",
        OUT,
    ]
    assert command_text(["a b.mlir", "--cse", "-o", OUT]) == "mlir-opt 'a b.mlir' --cse -o -"


def test_input_without_a_name_is_the_standard_input(here: Path) -> None:
    copies = CopiedFiles(here)
    command = make_portable(["mlir-opt", "--cse"], copies, here / "in put.mlir")
    assert (command.source, command.piped) == ("input.mlir", True)
    assert make_portable(["mlir-opt", "--cse"], copies, None).source is None


def test_files_of_a_test_are_copied(here: Path) -> None:
    copies = CopiedFiles(here)
    assert copies.rewrite("sub/check.sh {} | grep -v cse") == "./check.sh {} | grep -v cse"
    assert copies.files == {
        "check.sh": here / "sub/check.sh",
        "lib.sh": here / "sub/lib.sh",
    }
    assert copies.rewrite("cat sub/missing .") == "cat sub/missing ."


def test_two_files_of_one_name_are_both_copied(here: Path) -> None:
    copies = CopiedFiles(here)
    (here / "sub/d.irdl").write_text("another\n")
    (here / "repro.sh").write_text("ours has this name\n")
    assert copies.rewrite("cat d.irdl sub/d.irdl repro.sh d.irdl") == (
        "cat d.irdl ./d-2.irdl repro-2.sh d.irdl"
    )


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_no_copy_has_the_name_of_a_file_that_is_written(here: Path, name: str) -> None:
    (here / name).write_text("the user's\n")
    stem, _, ending = name.partition(".")
    assert CopiedFiles(here).rewrite(f"cat {name}") == f"cat {stem}-2.{ending}"


def test_the_names_of_files_print_as_text() -> None:
    assert repr([FolderFile.SCRIPT, FolderFile.BEFORE]) == "['repro.sh', 'before.mlir']"
    assert {FolderFile.SCRIPT, FolderFile.BEFORE, "input.mlir"} < RESERVED


def test_the_input_replaces_no_file_that_an_option_names(here: Path) -> None:
    for name in ("input.bc", "in.bc"):
        (here / name).write_text("module {}\n")
    copies = CopiedFiles(here)
    command = make_portable(["mlir-opt", "--irdl-file=input.bc", "in.bc"], copies, None)
    assert command.args == ["--irdl-file=input-2.bc", "input.bc"]
    assert copies.files == {"input-2.bc": here / "input.bc", "input.bc": here / "in.bc"}


# --- the script ---------------------------------------------------------------------------------


STEPS = [
    ScriptStep("bad", "it's the first", ["-n", "bad"]),
    ScriptStep("good", "a `second` $(one)", ["-n", "good $(exit 9) 'quoted'"]),
]
CHECK = ShellJudge("it says good", ['grep -q good "$out"'])


def run_script(
    folder: Path, steps: list[ScriptStep], judge: ShellJudge, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a script whose tool is echo."""
    tool = shutil.which("echo")
    assert tool is not None
    script = folder / "repro.sh"
    script.write_text(make_script(["A line", "another"], steps, judge, Path(tool), 20))
    environment = {"PATH": "/usr/bin:/bin", **variables}
    return subprocess.run(
        ["sh", str(script)], capture_output=True, text=True, env=environment, cwd="/"
    )


def test_script_reports_its_result(tmp_path: Path) -> None:
    done = run_script(tmp_path, STEPS, CHECK)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "1. bad, expected bad: it's the first",
        "2. good, expected good: a `second` $(one)",
        "All 2 verdicts are as expected.",
    ]
    assert read_verdicts(done.stdout) == {1: "bad", 2: "good"}
    assert sorted(tmp_path.iterdir()) == [tmp_path / "repro.sh"]


def test_script_reports_an_unexpected_result(tmp_path: Path) -> None:
    steps = [ScriptStep("good", "never", ["bad"]), *STEPS]
    done = run_script(tmp_path, steps, ShellJudge("x", ["echo why; grep -q good $out"]))
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "1. bad, expected good: never"
    assert "   | why" in done.stdout.splitlines()
    assert done.stdout.splitlines()[-1] == "1 of 3 verdicts are not as expected."
    assert read_verdicts(done.stdout) == {1: "bad", 2: "bad", 3: "good"}


def test_script_accepts_another_tool_and_keeps_outputs(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho bad; echo oops >&2; exit 3\n")
    tool.chmod(0o755)
    judge = ShellJudge("x", ['[ "$status" -eq 0 ] || return 125'])
    done = run_script(tmp_path, STEPS, judge, MLIR_OPT=str(tool), KEEP=str(tmp_path / "kept"))
    assert read_verdicts(done.stdout) == {1: "untestable", 2: "untestable"}
    assert (tmp_path / "kept/2.out").read_text() == "bad\n"
    assert (tmp_path / "kept/2.err").read_text() == "oops\n"
    assert (tmp_path / "kept/2.status").read_text() == "3\n"


def test_script_leaves_other_oracles_to_actiondbg(tmp_path: Path) -> None:
    done = run_script(tmp_path, STEPS, ShellJudge("a predicate says so", None))
    assert done.returncode == 3
    assert read_verdicts(done.stdout) == {1: None, 2: None}


def test_script_ends_commands_at_the_time_limit(tmp_path: Path) -> None:
    script = make_script(
        [], [ScriptStep("good", "slow", ["30"])], ShellJudge("x", ["true"]), Path("sleep"), 0.2
    )
    (tmp_path / "repro.sh").write_text(script)
    environment = {"PATH": "/usr/bin:/bin", "KEEP": "kept"}
    subprocess.run(["sh", "repro.sh"], cwd=tmp_path, env=environment, check=True, timeout=20)
    assert (tmp_path / "kept/1.status").read_text() == "137\n"


def test_a_script_is_posix(tmp_path: Path) -> None:
    dash = shutil.which("dash")
    if dash is None:
        pytest.skip("dash is not installed")
    oracles = [Shell("grep -q 'a b' {}"), Crash(), Verify(), Diagnostic("*it's*"), Execute()]
    for oracle in oracles:
        copies = CopiedFiles(tmp_path, {"input.mlir": tmp_path / "x"}, "input.mlir")
        text = make_script(["x"], STEPS, oracle.in_shell(copies), Path("/x y/mlir-opt"), 1)
        done = subprocess.run([dash, "-n"], input=text, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), text


def test_each_oracle_of_the_command_line_has_shell_commands(tmp_path: Path) -> None:
    """A new oracle without them would leave its reproducers unjudged."""
    (tmp_path / "checks").write_text("CHECK: x\n")
    oracles: list[Oracle] = [
        Shell("true {}"),
        FileCheck(Path("checks")),
        Crash(),
        Verify(),
        Diagnostic("*"),
        Execute(),
    ]
    ours = {one for one in Oracle.__subclasses__() if one.__module__.startswith("actiondbg.")}
    # A proof needs actiondbg's own solver and interpreter.
    assert {type(oracle) for oracle in oracles} == ours - {PredicateOracle, Validate}
    for oracle in oracles:
        copies = CopiedFiles(tmp_path, {"input.mlir": tmp_path / "x"}, "input.mlir")
        assert oracle.in_shell(copies).lines
    for oracle in (PredicateOracle(bool), Validate()):
        assert oracle.in_shell(CopiedFiles(tmp_path)).lines is None


def judged(oracle: Oracle, folder: Path, status: int, output: str = "", errors: str = "") -> str:
    """Have the shell judge what a tool left."""
    judge = oracle.in_shell(CopiedFiles(folder))
    tool = folder / "tool"
    (folder / "o").write_text(output)
    (folder / "e").write_text(errors)
    how = f"kill -{status - 128} $$" if status > 128 else f"exit {status}"
    tool.write_text(f"#!/bin/sh\ncd {folder}\ncat o\ncat e >&2\n{how}\n")
    tool.chmod(0o755)
    (folder / "repro.sh").write_text(make_script([], STEPS[:1], judge, tool, 20))
    done = subprocess.run(["sh", "repro.sh"], cwd=folder, capture_output=True, text=True)
    return str(read_verdicts(done.stdout)[1])


def test_the_shell_judges_as_the_oracles_do(tmp_path: Path) -> None:
    (tmp_path / "checks").write_text("CHECK: good\n")
    test = Shell("grep -q good {} || exit 1; cat > /dev/null; exit 0")
    for oracle in (test, FileCheck(Path("checks"))):
        assert judged(oracle, tmp_path, 0, "it is good") == "good"
        assert judged(oracle, tmp_path, 0, "it is not") == "bad"
        assert judged(oracle, tmp_path, 1, "it is good") == "untestable"
        assert judged(oracle, tmp_path, 134, "it is good") == "untestable"
    assert judged(Shell("exit 125"), tmp_path, 0) == "untestable"
    assert judged(Shell("exit 127"), tmp_path, 0) == "untestable"
    assert judged(Shell("grep -q good"), tmp_path, 0, "it is good") == "good"

    assert judged(Crash(), tmp_path, 0) == "good"
    assert judged(Crash(), tmp_path, 134) == "bad"
    assert judged(Crash(), tmp_path, 1) == "untestable"

    assert judged(Verify(), tmp_path, 0) == "good"
    assert judged(Verify(), tmp_path, 1, errors="x.mlir:1:1: error: bad op\n") == "bad"
    assert judged(Verify(), tmp_path, 1, errors="no such option\n") == "untestable"
    assert judged(Verify(), tmp_path, 134, errors="x: error: \n") == "untestable"

    said = "in.mlir:3:5: error: failed to [legalize] it's 'x'\n  return\n"
    for glob in ("failed to*", "*it's 'x'", r"*\[legalize\]*", "[^a]ailed*", "[!a]ailed*"):
        assert judged(Diagnostic(glob), tmp_path, 1, errors=said) == "bad", glob
    assert judged(Diagnostic("legalize"), tmp_path, 1, errors=said) == "untestable"
    assert judged(Diagnostic("legalize"), tmp_path, 0, errors=said) == "good"


ANY = "a b&c|d'e\"f$g`h\\i"  # in the name of a directory
TESTS = [
    "grep -q good {}",
    'grep -q good "{}"',
    "grep -q good '{}'",
    '! test "$(grep -c good {} \'{}\')" = x && test "$(cat "{}")" = good',
    "echo it\\'s; case $(grep -c good < {}) in (1) ;; *) exit 1 ;; esac",
    'f() { grep -q "$1" {}; }; f good',
    'test "`cat {}`" = good',
    "# It's a comment.\n grep -q good {}  # another's",
]


@pytest.mark.parametrize("command", TESTS)
def test_an_output_in_a_directory_of_any_name_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = tmp_path / ANY
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    for text, verdict in (("good", "good"), ("other", "bad")):
        assert judged(Shell(command), tmp_path, 0, text) == verdict
        (folder / "output").write_text(text)
        setup = OracleSetup(Path("/bin/sh"), [], None, tmp_path, tmp_path, None)
        judgement = Shell(command).judge_output(folder / "output", CommandRunner(tmp_path), setup)
        assert judgement.verdict == verdict, judgement.reason


def attempts(folder: Path, directory: Path, test: str) -> list[StepResult]:
    """Run a step by scripts in a folder."""
    setup = OracleSetup(Path("/bin/true"), [], None, None, directory, None)
    verdicts = VerdictStore(None, {})
    run = ReproducerRun(folder, setup.tool, Shell(test), setup, None, verdicts)
    judge = ShellJudge("the test ends with 0", [test])
    return run.try_steps([ScriptStep("good", "a run", [])], judge)


def test_a_test_may_remove_the_script_of_an_attempt(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (found,) = attempts(tmp_path / "folder", tmp_path, "rm -f attempt-*.sh")
    assert found.confirmed
    assert list((tmp_path / "folder").iterdir()) == []


def test_an_attempt_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotWritten, match=r"The script .*attempt-.* cannot be written"):
        attempts(tmp_path / "missing", tmp_path, "true")


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("7\n", "7\n"),
        ("7\n", "8\n"),
        ("( 1, 2.5, -3 )\n", "(1, 2.5,  -3)\n\n"),
        ("1.00000001", "1"),
        ("1.1", "1.2"),
        ("1e5", "100000.5"),
        ("100000", "100001"),
        ("7\n8\n", "7\n"),
        ("7\n", "7\n8\n"),
        ("", ""),
        ("", "7\n"),
        ("a at 0x7f00 is 3", "a at 0x7e11 is 3"),
        ("nan", "nan"),
        ("nan", "1.0"),
        ("-0.0", "0.0"),
        ("-0", "0"),
        ("[[1,   2],\n [3,   4]]", "[[1,   2],\n [3,   5]]"),
    ],
)
def test_awk_compares_as_the_oracle_does(tmp_path: Path, expected: str, printed: str) -> None:
    judge = Execute().in_shell(CopiedFiles(tmp_path, {"input.mlir": tmp_path / "x"}, "input.mlir"))
    [same] = [text for text in judge.preamble if text.startswith("same=")]
    (tmp_path / "expected").write_text(expected)
    (tmp_path / "printed").write_text(printed)
    call = f'{same}\nawk -v tolerance=1e-5 "$same" expected printed > /dev/null'
    done = subprocess.run(["sh", "-c", call], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert (done.returncode == 0) == (first_difference(expected, printed, 1e-5) is None)


# --- strategies ---------------------------------------------------------------------------------


def facts(**changes: object) -> StrategyFacts:
    fields: dict[str, object] = {
        "command": PortableCommand(["input.mlir", "--cse"], "input.mlir", False),
        "tag": "apply-pattern",
        "nth": 7,
        "first": 5,
        "pass_name": "cse",
        "pipeline": "builtin.module(cse)",
        "whole_pipelines": lambda: ["builtin.module(cse,sccp)"],
        "snapshots": frozenset({"before.mlir", "after.mlir", "before-pass.mlir"}),
    }
    return StrategyFacts(**{**fields, **changes})  # type: ignore[arg-type]


def words(facts: StrategyFacts) -> list[list[str]]:
    return [
        [f"{s.expected} {command_text(s.args)}" for s in strategy.steps if s.essential]
        for strategy in strategies(facts)
    ]


def test_the_strategies_of_a_pattern_begin_with_the_counter() -> None:
    found = words(facts())
    counter = "mlir-opt input.mlir --cse --mlir-disable-threading --mlir-debug-counter="
    assert found[0] == [
        "bad mlir-opt input.mlir --cse",
        f"bad {counter}apply-pattern-skip=0,apply-pattern-count=7",
        f"good {counter}apply-pattern-skip=0,apply-pattern-count=6",
    ]
    assert found[1][1:] == [
        "bad mlir-opt before-pass.mlir '--pass-pipeline=builtin.module(cse)'",
        "good mlir-opt before-pass.mlir",
    ]
    assert found[2][1:] == [
        "bad mlir-opt before-pass.mlir '--pass-pipeline=builtin.module(cse,sccp)'",
        "good mlir-opt before-pass.mlir '--pass-pipeline=builtin.module(sccp)'",
    ]
    assert found[3][1:] == ["good mlir-opt before.mlir", "bad mlir-opt after.mlir"]
    inner = [s for s in list(strategies(facts()))[1].steps if s.pair]
    assert [s.args[-1].rpartition("=")[2] for s in inner] == ["3", "2"]


def test_no_debug_counter_with_another_numbering() -> None:
    taken = PortableCommand(["input.mlir", "--log-actions-to=x"], "input.mlir", False)
    for changed in (
        facts(tag="fold"),
        facts(nth=None),
        facts(command=taken),
        facts(command=PortableCommand(["--cse"], None, False)),
    ):
        assert not any("debug-counter" in line for way in words(changed) for line in way)


def test_a_whole_pass_is_shown_on_the_ir_before_it() -> None:
    found = words(facts(tag="pass-execution", snapshots=frozenset({"before.mlir"})))
    assert found[0][1:] == [
        "bad mlir-opt before.mlir '--pass-pipeline=builtin.module(cse)'",
        "good mlir-opt before.mlir",
    ]
