"""JSON, completion, history, the manual and the command line, over a fake session."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from actiondbg import cli
from actiondbg.commands import SUBCOMMANDS
from actiondbg.commands.cli import debug as debug_cli
from actiondbg.commands.interpreter import help as manual
from actiondbg.commands.interpreter.declaration import Command
from actiondbg.commands.interpreter.interpreter import candidates
from actiondbg.commands.interpreter.options import fields_of
from actiondbg.commands.shell.prompt.history_file import HistoryFile
from actiondbg.commands.shell.topics import COMMANDS
from tests.elements import some
from tests.fakes.functions import returning
from tests.fakes.session.driver import Driver
from tests.fakes.session.session import MODULE, FakeSession
from tests.paths import ROOT

if TYPE_CHECKING:
    from actiondbg.commands.cli.line_parser import LineParser
    from actiondbg.commands.interpreter.options import Options

DOCS = ROOT / "docs" / "commands.md"


@pytest.fixture
def driver() -> Driver:
    return Driver()


# --- JSON --------------------------------------------------------------------

COMMON_KEYS = [
    *("when", "reason", "ordinal", "tag", "name"),
    *("op", "location", "function", "depth", "context", "mlir", "thread"),
    *("process", "breakpoints"),
]
STOP_KEYS = [*COMMON_KEYS, "event", "id", "cursor", "outcome", "changes", "message", "culprit"]
EXIT_KEYS = [*COMMON_KEYS, "event", "status", "actions", "message", "never_hit"]


def test_json_is_one_object_per_command() -> None:
    driver = Driver(json=True)
    driver.interpreter.keep_going = True
    objects = driver.results("break x", "run", "bogus", "print", "show", "delete 1", "continue")
    assert [each["command"] for each in objects][:3] == ["break x", "run", "bogus"]
    assert list(objects[1]["result"]) == STOP_KEYS
    assert objects[2] == {
        "command": "bogus",
        "ok": False,
        "error": "There is no command 'bogus': 'help' lists the commands.",
    }
    assert objects[3]["result"] == {
        "text": "%0 = arith.addi %arg0, %arg0 : i32\n",
        "generic": False,
    }
    assert objects[5]["result"] is None
    assert list(objects[6]["result"]) == EXIT_KEYS


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        (
            "break x",
            "id kind spec condition enabled temporary after outcome ignore hits matched commands "
            "pending",
        ),
        ("list", "breakpoints"),
        ("info b", "breakpoints"),
        ("backtrace", "frames selected"),
        ("up", "index ordinal tag name depth op location function context mlir units id"),
        ("context", "units"),
        ("cursor-next", "unit function path"),
        ("info cursor", "kind name state text location function path id"),
        (
            "info program",
            "command state status pid halted threads threading ordinal contexts tracked event "
            "forks",
        ),
        ("echo x", "text"),
    ],
)
def test_json_keys(line: str, keys: str) -> None:
    driver = Driver(json=True)
    result = driver.results("start", line)[1]["result"]
    assert sorted(result) == sorted(keys.split())


def test_json_of_redirected_ir(tmp_path: Path) -> None:
    driver = Driver(json=True)
    file = tmp_path / "m.mlir"
    result = driver.results("start", f"print module > {file}")[1]["result"]
    assert result == {"target": str(file), "operator": ">", "bytes": len(MODULE)}
    assert file.read_text() == MODULE


# --- completion, history, documentation, the command line ----------------------


@pytest.mark.parametrize(
    ("line", "word", "expected"),
    [
        ("break", "pattern:", ["pattern:FoldA", "pattern:FoldB"]),
        ("break", "pat", ["pattern:"]),
        ("break", "in:c", ["in:canonicalize", "in:cse"]),
        ("break", "ar", ["arith.addi"]),
        ("break x if", "out", ["outcome"]),
        ("tbreak x if", "pa", ["pass"]),
        ("break op:x if", "de", ["depth"]),
        ("break-on-tag", "f", ["fold"]),
        ("delete", "", ["1", "all", "checkpoint", "skip"]),
        ("print", "--ge", ["--generic"]),
        ("print --elide 3", "f", ["function"]),
        ("info", "b", ["breakpoints"]),
        ("set", "st", ["style", "stop-on-crash"]),
        ("set style", "mono", ["monokai"]),
        ("set print-stop", "o", ["on", "off"]),
        ("help", "tb", ["tbreak"]),
        ("help", "ta", ["tasks"]),
        ("source", "x", None),
        ("break", "func:", ["func:main"]),
        ("break", "@m", ["@main"]),
        ("break", "in.", ["in.mlir:"]),
        ("break", "file:", ["file:in.mlir:"]),
        ("break-on-file", "in", ["in.mlir:"]),
        ("break-on-file", "x", None),
        ("cursor-goto", "@", ["@main"]),
        ("cursor-goto", "i", ["in.mlir:"]),
        ("whatif", "p", ["pattern:"]),
        ("whatif", "pattern:", ["pattern:FoldA", "pattern:FoldB"]),
        ("whatif pattern:FoldA off", "", ["and", "in"]),
        ("whatif drop cse and swap cse", "ca", ["canonicalize"]),
        ("whatif --diff drop cse; replace cse", "", ["with"]),
        ("watch", "op:ar", ["op:arith.addi"]),
        ("watch op:arith.addi", "", ["count"]),
        ("watch attribute value", "", ["of"]),
        ("watch @12", "", ["if"]),
    ],
)
def test_completion(driver: Driver, line: str, word: str, expected: list[str] | None) -> None:
    driver.do("break x")
    name, *before = line.split()
    assert candidates(driver.console, COMMANDS.find(name), before, word) == expected


def test_history_survives_and_keeps_no_repetition(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    first = HistoryFile(path)
    assert first.load() == []
    for line in ("step", "step", "", "break x if depth > 3"):
        first.append(line)
    assert HistoryFile(path).load() == ["step", "break x if depth > 3"]


def test_history_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    HistoryFile(tmp_path / "file" / "history").append("step")
    assert (tmp_path / "file").read_text() == ""
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_every_command_has_help_and_a_line_in_the_manual(driver: Driver) -> None:
    text = DOCS.read_text()
    assert manual.tables(COMMANDS) in text, (
        "run python -m actiondbg.commands.shell.topics and paste its tables"
    )
    listed = driver.do("help all")
    assert [each.name for each in COMMANDS if each.example not in listed] == []
    for topic in manual.TOPICS.values():
        assert topic in text


EVERY_COMMAND = [one for each in COMMANDS for one in (each, *each.subcommands.values())]


@pytest.mark.parametrize("command", EVERY_COMMAND, ids=lambda each: each.name)
def test_help_of_a_command_is_made_of_its_declaration(command: Command, driver: Driver) -> None:
    shown = " ".join(driver.do(f"help {command.name}").split())
    is_group = command.subcommands and not command.fields
    usage = f"{command.name} SUBCOMMAND" if is_group else command.usage()
    assert shown.startswith(f"{usage} {command.summary}")
    lines = [(name, each.summary) for name, each in command.subcommands.items()]
    lines += [(field.written, field.help) for field in command.fields]
    assert [one for one in lines if " {} {}".format(*one) not in shown] == []
    also = f" Also: {', '.join(command.aliases)}" if command.aliases else ""
    assert f"{also} Example: {command.example}" in shown


@pytest.mark.parametrize(
    "name", sorted(SUBCOMMANDS.keys() - {"kernels", "suite"})
)  # which list others
def test_help_of_a_subcommand_is_made_of_its_declaration(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit) as ended:
        cli.main([*name.split(), "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    parser = cli.load_subcommand(SUBCOMMANDS[name]).build_parser()
    assert ended.value.code == 0
    assert shown.startswith(f"usage: actiondbg {name} ")
    for text in (parser.usage, parser.description, parser.epilog):
        assert " ".join((text or "").split()) in shown
    fields = fields_of(cast("LineParser[Options]", parser)._options)
    words = [f" {name}" for field in fields for name in field.names or [field.metavar]]
    words += [" ".join(field.help.replace("%%", "%").split()) for field in fields]
    assert [one for one in words if one not in shown] == []


def test_help_fits_a_screen_and_names_every_command(driver: Driver) -> None:
    shown = driver.do("help")
    assert shown.count("\n") < 24
    assert set(COMMANDS.names) <= set(re.findall(r"[\w-]+", shown))
    for category in some(COMMANDS.categories()):
        assert driver.do(f"help {manual.heading_of(category)}").startswith(f"{category}:\n")
    for text in (shown, driver.do("help all"), driver.do("help bisect")):
        assert max(map(len, text.splitlines())) < 80


def test_help_is_shown_on_the_narrowest_terminals() -> None:
    for width in (1, 12, 23):
        shown = manual.overview(COMMANDS, width=width)
        assert set(COMMANDS.names) <= set(re.findall(r"[\w-]+", shown))
        assert all(manual.page(each, width=width) for each in EVERY_COMMAND)


@pytest.mark.parametrize("name", sorted(COMMANDS.names))
def test_examples_parse(name: str) -> None:
    example = COMMANDS[name].example
    if example.startswith("!"):
        return
    word, _, text = example.partition(" ")
    assert COMMANDS.find(word).name == name
    found, text = COMMANDS[name].resolve(text)
    found.parse(text.partition(" > ")[0] if found.takes_redirects else text)


@pytest.mark.parametrize(
    ("name", "word"),
    [(name, word) for name in COMMANDS.names for word in COMMANDS[name].subcommands],
)
def test_examples_of_subcommands_parse(name: str, word: str) -> None:
    wanted = COMMANDS[name].subcommands[word]
    found, text = COMMANDS[name].resolve(wanted.example.removeprefix(f"{name} "))
    assert found is wanted
    found.parse(text)


@pytest.mark.parametrize(
    ("argv", "ours", "tool"),
    [
        (["mlir-opt", "--batch"], [], ["mlir-opt", "--batch"]),
        (["--batch", "-ex", "run", "t", "-x"], ["--batch", "-ex", "run"], ["t", "-x"]),
        (["--json", "--", "--tool"], ["--json"], ["--tool"]),
        (["-nx"], ["-nx"], []),
    ],
)
def test_our_options_end_at_the_tool(argv: list[str], ours: list[str], tool: list[str]) -> None:
    assert debug_cli.run.build_parser().split(argv) == (ours, tool)


@pytest.fixture
def run_cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Run the command line over a fake session; return the exit code."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)

    class Closing(FakeSession):
        execution = None

        def __enter__(self) -> FakeSession:
            return self

        def __exit__(self, *_: object) -> None: ...

    def run(*argv: str, stdin: str = "", fails: bool = False) -> int:
        session = Closing()
        session.fail_to_start = fails
        monkeypatch.setattr("actiondbg.session.session.launch", returning(session))
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        monkeypatch.setattr("signal.signal", returning(None))
        return cli.main([*argv, "mlir-opt", "in.mlir"])

    return run


def test_exit_codes(run_cli: Callable[..., int]) -> None:
    assert run_cli("--batch", "-ex", "run") == 0
    assert run_cli("--batch", "-ex", "bogus") == 1
    assert run_cli("--batch", "-ex", "run", fails=True) == 3
    assert run_cli("--batch", "-ex", "run", "--return-child-result") == 0
    with pytest.raises(SystemExit) as usage:
        run_cli("--bogus")
    assert usage.value.code == 2


def test_commands_from_a_pipe(
    run_cli: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli("-ex", "echo first", stdin="echo second\nbogus\necho third\n") == 1
    captured = capsys.readouterr()
    assert captured.out == "first\nsecond\n"
    assert captured.err.startswith("<stdin>:2: There is no command 'bogus'")


def test_json_from_a_pipe_continues_after_errors(
    run_cli: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli("--json", stdin="bogus\necho x\n") == 1
    assert [json.loads(s)["ok"] for s in capsys.readouterr().out.splitlines()] == [False, True]


def test_project_init_is_run_only_when_trusted(
    run_cli: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / ".actiondbginit").write_text("echo user's\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / ".actiondbginit").write_text("echo project's\n")
    monkeypatch.chdir(project)
    run_cli("--batch")
    captured = capsys.readouterr()
    assert captured.out == "user's\n"
    assert "was not run: if you trust it, use 'trust'" in captured.err
    run_cli("--batch", "-ex", "trust")
    assert capsys.readouterr().out == f"user's\nproject's\nTrusted: {project}/.actiondbginit\n"
    run_cli("--batch", "-ex", "trust")
    assert capsys.readouterr().out == f"user's\nproject's\nTrusted: {project}/.actiondbginit\n"
    run_cli("--batch", "-nx")
    assert capsys.readouterr().out == ""


def test_project_init_that_has_changed_is_not_trusted(
    run_cli: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = tmp_path / "a" / ".actiondbginit"
    script.parent.mkdir()
    script.write_text("echo first\n")
    monkeypatch.chdir(script.parent)
    assert run_cli("--batch", "--trust") == 0
    assert capsys.readouterr().out == "first\n"
    script.write_text("echo second\n")
    assert run_cli("--batch") == 0
    captured = capsys.readouterr()
    assert captured.out == "" and f"{script} was not run" in captured.err
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / ".actiondbginit").write_text("echo first\n")
    monkeypatch.chdir(tmp_path / "b")
    assert run_cli("--batch") == 0
    assert capsys.readouterr().out == ""
    monkeypatch.chdir(script.parent)
    script.write_text("bogus\n")
    assert run_cli("--batch", "--trust", "-ex", "echo not reached") == 1
    captured = capsys.readouterr()
    assert captured.out == "" and f"{script}:1: There is no command 'bogus'" in captured.err


def test_trust_without_an_init_script(
    run_cli: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert run_cli("--batch", "--trust") == 0
    (tmp_path / ".actiondbginit").write_text("echo later\n")
    assert run_cli("--batch") == 0
    assert capsys.readouterr().out == ""
    (tmp_path / ".actiondbginit").unlink()
    assert run_cli("--batch", "-ex", "trust") == 1
    assert "'.actiondbginit' cannot be read" in capsys.readouterr().err.replace(f"{tmp_path}/", "")
