"""What a server does not run, read or write, however it is asked."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from actiondbg.commands.interpreter.completers import files
from actiondbg.commands.mcp.restrictions import Refused, Restrictions
from actiondbg.commands.shell.topics import COMMANDS
from actiondbg.errors import ActiondbgError
from tests.paths import ROOT
from tests.tool.mcp.servers import TOKEN, Talk, talk

BUILDS = ("pypi",)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with an input, beside a secret and with links out of it."""
    directory = tmp_path / "work"
    directory.mkdir()
    shutil.copy(ROOT / "examples/fold.mlir", directory)
    (tmp_path / "secret").write_text("hidden words\n")
    (directory / "link").symlink_to(tmp_path / "secret")
    (directory / "out").symlink_to(tmp_path)
    (directory / "dangling").symlink_to(tmp_path / "new")
    (directory / "sub").mkdir()
    monkeypatch.chdir(directory)
    return directory


def _tree(directory: Path) -> list[tuple[str, float]]:
    return sorted((str(each), each.lstat().st_mtime) for each in directory.rglob("*"))


# --- programs ------------------------------------------------------------------------------


def test_programs_that_were_not_named(mlir_opt: str, work: Path) -> None:
    restrictions = Restrictions.of(work, [mlir_opt], [])
    assert restrictions.check_command([mlir_opt, "fold.mlir"]) == [mlir_opt, "fold.mlir"]
    script = work / "mlir-opt"
    script.write_text("#!/bin/sh\necho run > ran\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (work / "tool").symlink_to("/bin/sh")
    beside = str(Path(mlir_opt).with_name("mlir-runner"))
    for name in ("sh", "/bin/sh", "./mlir-opt", str(script), "tool", "./tool", beside, "nothing"):
        with pytest.raises(Refused, match="may not be run here"):
            restrictions.check_command([name, "fold.mlir"])
    with pytest.raises(ActiondbgError, match="empty"):
        restrictions.check_command([])


def test_a_directory_of_tools_and_a_link_to_a_tool(mlir_opt: str, work: Path) -> None:
    (work / "tool").symlink_to(mlir_opt)
    folder = str(Path(mlir_opt).parent)
    for named in (folder, mlir_opt):
        restrictions = Restrictions.of(work, [named], [])
        for name in (mlir_opt, "./tool", f"{folder}/../bin/mlir-opt"):
            assert restrictions.check_command([name]) == [name]
    beside = f"{folder}/mlir-runner"
    assert Restrictions.of(work, [folder], []).check_command([beside]) == [beside]


def test_without_tools_nothing_runs(mlir_opt: str, work: Path) -> None:
    with pytest.raises(Refused, match="none"):
        Restrictions.of(work, [], []).check_command([mlir_opt])


# --- arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["-o", "../out.mlir"],
        ["-o=../out.mlir"],
        ["-o/tmp/out.mlir"],
        ["-o", "/tmp/out.mlir"],
        ["-o", "sub/../../out.mlir"],
        ["-o", "out/new.mlir"],
        ["-o", "link"],
        ["-o", "dangling"],
        ["--mlir-pass-pipeline-crash-reproducer=../r.mlir"],
        ["--log-actions-to=/tmp/log"],
        ["--mlir-print-ir-tree-dir", "out/tree"],
        ["--pass-pipeline=builtin.module(view-op-graph{path=/tmp/x,b=1})"],
        ["--pass-pipeline=builtin.module(any{path='../x'})"],
        ["@arguments"],
        ["-I../include"],
        ["--x=a,../b"],
        ["\0/etc"],
    ],
)
def test_arguments_that_name_a_path_outside(words: list[str], mlir_opt: str, work: Path) -> None:
    with pytest.raises(Refused, match="--allow paths"):
        Restrictions.of(work, [mlir_opt], []).check_command([mlir_opt, "fold.mlir", *words])
    Restrictions.of(work, [mlir_opt], ["paths"]).check_command([mlir_opt, *words])


@pytest.mark.parametrize(
    "words",
    [
        ["-o", "sub/out.mlir"],
        ["-o", "sub/../out.mlir"],
        ["--pass-pipeline=builtin.module(func.func(canonicalize{max-iterations=10},cse))"],
        ["--mlir-print-ir-tree-dir=tree"],
        ["-"],
        ["--debug-only=dialect-conversion"],
        ["--split-input-file=// -----"],
    ],
)
def test_arguments_that_stay_inside(words: list[str], mlir_opt: str, work: Path) -> None:
    command = [mlir_opt, "fold.mlir", *words]
    assert Restrictions.of(work, [mlir_opt], []).check_command(command) == command


@pytest.mark.parametrize(
    "word", ["--load-pass-plugin=a.so", "-load=a.so", "--load-dialect-plugin", "-fplugin=a.so"]
)
def test_libraries_that_are_loaded_into_a_tool(word: str, mlir_opt: str, work: Path) -> None:
    with pytest.raises(Refused, match="--allow plugins"):
        Restrictions.of(work, [mlir_opt], ["paths"]).check_command([mlir_opt, word, "a.so"])
    Restrictions.of(work, [mlir_opt], ["plugins"]).check_command([mlir_opt, word, "a.so"])


# --- commands of the shell -----------------------------------------------------------------


def test_which_commands_are_contained() -> None:
    """Commands that use files, programs or a terminal, and those with a permission, are not."""
    beyond = {
        *("commands", "save breakpoints", "save skips", "save edits", "load skips", "load edits"),
        *("display", "undisplay", "lineage", "set", "set args", "source", "trust"),
        *("alias create", "alias list", "alias delete", "macro create", "macro list"),
        *("macro delete", "edit", "layout", "tui enable", "tui disable", "edit-ir", "whatif"),
        *("bisect", "quit", "shell", "py", "native", "validate"),
        "source-lines",  # of any file that a location names
    }
    commands = [
        each
        for command in COMMANDS
        for each in (command, *command.subcommands.values())
        if each.run is not None
    ]
    assert {each.name for each in commands if not each.contained} == beyond
    for each in commands:
        takes_file = any(one.complete is files for one in each.fields if one.kind == "argument")
        assert not (each.contained and takes_file), each.name  # an option asks for a permission


REFUSED_LINES = [
    ("shell touch ran", "--allow shell"),
    ("!touch ran", "--allow shell"),
    ("py open('ran', 'w')", "--allow py"),
    ("native --execute 'shell touch ran'", "--allow native"),
    ("why-not --native AddI*", "--allow native"),
    ("why-not --against fold.mlir AddI*", "--allow shell"),
    ("print module > ran", "--allow redirection"),
    ("print module >> ran", "--allow redirection"),
    ("print module | tee ran", "--allow shell"),
    ("info patterns > ran", "--allow redirection"),
    ("run > ran", "no arguments"),
    ("start fold.mlir -o ran", "no arguments"),
    ("save breakpoints ran", "not for clients"),
    ("source fold.mlir", "not for clients"),
    ("lineage --svg ran", "not for clients"),
    ("alias create x shell touch ran", "not for clients"),
    ("macro create x shell touch ran", "not for clients"),
    ("display shell touch ran", "not for clients"),
    ("commands 1", "not for clients"),
    ("set args -o ran", "not for clients"),
    ("set reproducer-directory /tmp", "not for clients"),
    ("edit fold.mlir", "not for clients"),
    ("edit-ir --from fold.mlir", "use the tool edit"),
    ("bisect --test 'touch ran'", "use the tool bisect"),
    ("whatif --test 'touch ran' drop cse", "use the tool whatif"),
    ("trust", "not for clients"),
    ("source-lines", "not for clients"),
    ("apply-pass 'transform-preload-library{transform-library-paths=/tmp}'", "--allow paths"),
    ("quit", "use the tool close"),
    ("info pipeline\nshell touch ran", "one line"),
    ("sh touch ran", "ambiguous"),
    ("she touch ran", "--allow shell"),
]


def test_commands_that_are_refused(mlir_opt: str, work: Path) -> None:
    async def converse(talk: Talk) -> None:
        await talk.do("open", command=[mlir_opt, "fold.mlir", "--canonicalize"])
        before = _tree(work)
        for line, said in REFUSED_LINES:
            assert said in await talk.fail("command", line=line), line
        assert "@5" in (await talk.do("command", line="cursor-goto @5")).text  # it goes on
        assert _tree(work) == before

    talk(converse, work, mlir_opt)


def test_commands_with_permission(mlir_opt: str, work: Path) -> None:
    async def converse(talk: Talk) -> None:
        await talk.do("open", command=[mlir_opt, "fold.mlir", "--canonicalize"])
        printed = await talk.do("command", line="shell echo said; echo more >&2")
        assert "said" in printed.text
        assert "said" not in (await talk.do("command", line="py print(session.stop.ordinal)")).text
        assert (await talk.do("command", line="py print(session.stop.name)")).text == "canonicalize"
        await talk.do("command", line="print module > sub/module.mlir")
        assert "arith.addi" in (work / "sub/module.mlir").read_text()
        assert "--allow paths" in await talk.fail("command", line="print module > ../module.mlir")
        assert "--allow paths" in await talk.fail("command", line="print module > link")
        await talk.do("command", line="print module | cat > piped")
        assert "arith.addi" in (work / "piped").read_text()

    allowed = [word for each in ("shell", "py", "redirection") for word in ("--allow", each)]
    talk(converse, work, *allowed, mlir_opt)
    assert (work.parent / "secret").read_text() == "hidden words\n"


# --- tools ---------------------------------------------------------------------------------


def test_tools_write_inside_only(mlir_opt: str, work: Path) -> None:
    command = [mlir_opt, "fold.mlir", "--canonicalize"]

    async def converse(talk: Talk) -> None:
        await talk.do("record", command=command, output="run.adbrec")
        for output in ("../run.adbrec", "/tmp/run.adbrec", "out/run.adbrec", "link", "dangling"):
            for tool, more in (("record", {}), ("bisect", {"oracle": {"verify": True}})):
                said = await talk.fail(tool, command=command, output=output, **more)
                assert "--allow paths" in said, output
        for path in ("../secret", "link", str(work.parent / "secret")):
            assert "--allow paths" in await talk.fail("open", command=command, stdin=path)
            assert "--allow paths" in await talk.fail("open", recording=path)
            assert "--allow paths" in await talk.fail("query", recordings=[path], sql="select 1")
            for oracle in ({"filecheck": path}, {"verify": True, "input": path}):
                said = await talk.fail("bisect", command=command, oracle=oracle)
                assert "--allow paths" in said
        for sql in ("select * from read_text('/etc/passwd')", "copy actions to 'copy.csv'"):
            assert "Permission" in await talk.fail("query", recordings=["run.adbrec"], sql=sql)

    before = _tree(work.parent)
    talk(converse, work, mlir_opt)
    made = {str(work / "run.adbrec")}
    assert {name for name, _ in _tree(work.parent)} == {name for name, _ in before} | made


def test_options_of_passes_that_name_a_path(mlir_opt: str, work: Path) -> None:
    pipeline = "transform-preload-library{transform-library-paths=../secret}"

    async def converse(talk: Talk) -> None:
        await talk.do("open", command=[mlir_opt, "fold.mlir", "--canonicalize"])
        assert "--allow paths" in await talk.fail("edit", pipeline=pipeline)
        said = await talk.fail("whatif", alternatives=f"insert {pipeline} before canonicalize")
        assert "--allow paths" in said
        await talk.do("whatif", alternatives="canonicalize{top-down=false}; drop canonicalize")

    talk(converse, work, mlir_opt)


def test_oracles_that_run_programs(mlir_opt: str, work: Path) -> None:
    command = [mlir_opt, "fold.mlir", "--canonicalize"]

    async def converse(talk: Talk) -> None:
        await talk.do("open", command=command)
        for tool, more in (
            ("bisect", {"command": command}),
            ("whatif", {"alternatives": "drop canonicalize"}),
        ):
            for oracle, permission in (
                ({"test": "touch ran"}, "shell"),
                ({"execute": True}, "execute"),
                ({"validate": True}, "execute"),
                ({"verify": True, "lower": "a{path=/tmp/x}"}, "paths"),
            ):
                said = await talk.fail(tool, oracle=oracle, **more)
                assert f"--allow {permission}" in said
        assert "--allow execute" in await talk.fail("validate", command=command)
        for name in ("sh", "cat"):
            assert "may not be run" in await talk.fail("doctor", tools=[name])
            assert "may not be run" in await talk.fail("record", command=[name], output="x")
            said = await talk.fail("bisect", command=[name, "x"], oracle={"verify": True})
            assert "may not be run" in said

    talk(converse, work, mlir_opt)
    assert not (work / "ran").exists()


def test_validate_stays_inside(mlir_opt: str, work: Path) -> None:
    async def converse(talk: Talk) -> None:
        command = [mlir_opt, "fold.mlir", "--canonicalize"]
        assert "may not be run" in await talk.fail("validate", command=["cat", "fold.mlir"])
        for more in ({"output": "../out"}, {"stdin": "../secret"}):
            assert "--allow paths" in await talk.fail("validate", command=command, **more)

        (work / "old").mkdir()
        said = await talk.fail("validate", command=command, output="old")
        assert said == "'old' exists: name a new folder."

    talk(converse, work, "--allow", "execute", mlir_opt)
    assert not (work.parent / "out").exists()


def test_resources_inside_only(mlir_opt: str, work: Path) -> None:
    async def converse(talk: Talk) -> None:
        for uri in (
            "actiondbg://recording/../secret",
            "actiondbg://recording/..%2Fsecret",
            "actiondbg://recording//etc/passwd",
            "actiondbg://recording/link",
            "file:///etc/passwd",
            "actiondbg://session/s1/ir/module",
            "actiondbg://session/s1",
        ):
            with pytest.raises(MCPError) as error:
                await talk.client.read_resource(uri)
            assert "hidden" not in str(error.value) and "root:" not in str(error.value)

    talk(converse, work, mlir_opt)


def test_modules_of_the_working_directory_are_not_imported(mlir_opt: str, work: Path) -> None:
    for name in ("msgspec", "actiondbg", "json"):
        (work / f"{name}.py").write_text("open('ran', 'w')\n")

    async def converse(talk: Talk) -> None:
        await talk.do("open", command=[mlir_opt, "fold.mlir", "--canonicalize"])

    talk(converse, work, mlir_opt, transport="stdio")
    assert not (work / "ran").exists()


def test_the_token_is_not_passed_to_tools(mlir_opt: str, work: Path) -> None:
    async def converse(talk: Talk) -> None:
        await talk.do("open", command=[mlir_opt, "fold.mlir", "--canonicalize"])
        printed = await talk.do("command", line="shell env")
        assert "PATH=" in printed.text and TOKEN not in printed.text

    talk(converse, work, "--allow", "shell", mlir_opt, transport="http")
