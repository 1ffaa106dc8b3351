"""The tools, compared with the shell, and the sizes of answers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp.shared.exceptions import MCPError

from actiondbg.commands.mcp.answers import PAGE, LongAnswers
from actiondbg.commands.mcp.tools import TOOLS
from tests.elements import some
from tests.fakes import command_line
from tests.paths import COMMAND, GOLDEN, ROOT
from tests.tool.mcp.servers import Talk, talk

BUILDS = ("pypi",)
CANONICALIZE = ["fold.mlir", "--canonicalize", "--cse"]


def shell(work: Path, command: list[str], *lines: str) -> str:
    """Return what the shell prints for some commands."""
    words = [word for line in lines for word in ("-ex", line)]
    done = command_line.run("-nx", "--batch", *words, *command, cwd=work)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- declarations --------------------------------------------------------------------------


def test_a_model_can_read_the_list_of_tools() -> None:
    """Few tools, each argument described, one type each, and all in a small part of a window."""
    listed = [tool for tool in TOOLS.values() if tool.listed]
    assert len(listed) <= 20
    schemas = [tool.schema() for tool in listed]
    assert sum(len(json.dumps(schema)) for schema in schemas) < 20_000
    for tool, schema in zip(listed, schemas, strict=True):
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        assert 20 < len(tool.about) < 400
        fields = {name: each for name, each in schema["properties"].items() if name != "oracle"}
        assert not [name for name, field in fields.items() if "description" not in field]
    choices = [
        (tool.name, name)
        for tool, schema in zip(listed, schemas, strict=True)
        for name, field in schema["properties"].items()
        if "anyOf" in field
    ]
    assert choices == [("show_ir", "elide")]


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("step", {"count": "a"}, "Expected 'int', got 'str' in 'count'"),
        ("step", {"count": 0}, "Expected 'int' >= 1 in 'count'"),
        ("step", {"unit": "week"}, "Invalid enum value 'week' in 'unit'"),
        ("step", {"units": 1}, "unknown field 'units'"),
        ("why_not", {}, "missing required field 'pattern'"),
        ("bisect", {"command": ["x"], "oracle": {"verify": 1}}, "in 'oracle.verify'"),
        ("bisect", {"command": ["x"], "oracle": {"tolerance": -1}}, "in 'oracle.tolerance'"),
        ("validate", {"command": ["x"], "inputs": 0}, "Expected 'int' >= 1 in 'inputs'"),
        ("validate", {"command": ["x"], "timeout": 0}, "Expected 'float' > 0.0 in 'timeout'"),
        ("open", {"command": "mlir-opt x"}, "in 'command'"),
        ("step", [], "Expected 'object', got 'array'"),
    ],
)
def test_arguments_that_do_not_fit(tool: str, given: Any, said: str) -> None:
    with pytest.raises(Exception, match="Its arguments are") as error:
        TOOLS[tool].parse(given)
    assert said in str(error.value)
    assert all(name in str(error.value) for name in some(TOOLS[tool].kind.__struct_fields__))


# --- long answers --------------------------------------------------------------------------


def _pages(text: str) -> list[str]:
    answers = LongAnswers()
    shown, rest = answers.first_page(text)
    pages = [shown]
    while rest is not None:
        shown, rest = answers.page(rest.answer, rest.offset)
        pages.append(shown)
    return pages


@pytest.mark.parametrize("length", [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE + 7])
@pytest.mark.parametrize("line", [3, 80, 5000, 10**9])
def test_pages_hold_the_whole_text(length: int, line: int) -> None:
    text = "".join("\n" if i % line == line - 1 else chr(97 + i % 26) for i in range(length))
    pages = _pages(text)
    assert all(len(page) < PAGE + 200 for page in pages)
    note = re.compile(r"\n\[[\d,]+ more characters: call more with answer 'a1' and offset \d+.*\]$")
    assert all(note.search(page) for page in pages[:-1])
    whole = "\n".join(note.sub("", page) for page in pages)
    assert whole.replace("\n", "") == text.replace("\n", "")


def test_old_answers_are_forgotten() -> None:
    answers = LongAnswers()
    for number in range(30):
        shown, rest = answers.first_page(f"{number} " * PAGE)
        assert rest is not None and rest.answer == f"a{number + 1}"
        assert shown.startswith(str(number))
    assert answers.page("a30", 0)[0].startswith("29 ")
    with pytest.raises(KeyError):
        answers.page("a1", 0)


def test_a_long_module_is_read_by_pages(mlir_opt: str, work: Path) -> None:
    functions = (ROOT / "examples/fold.mlir").read_text()
    body = functions[functions.index("func.func") :]
    source = "".join(body.replace("@shift", f"@shift{i}") for i in range(300))
    (work / "long.mlir").write_text(source)
    seen: list[str] = []

    async def converse(talk: Talk) -> None:
        await talk.do("open", command=[mlir_opt, "long.mlir", "--cse"])
        answered = await talk.do("show_ir", what="module")
        while True:
            assert len(answered.text) < PAGE + 200
            rest = answered.data.get("rest")
            page = answered.text if rest is None else answered.text.rpartition("\n[")[0]
            seen.append(page)
            if rest is None:
                break
            answered = await talk.do("more", answer=rest["answer"], offset=rest["offset"])
        assert "There is no text" in await talk.fail("more", answer="a9", offset=0)
        contents = (await talk.client.read_resource("actiondbg://session/s1/ir/module")).contents
        assert len(seen) > 3
        assert getattr(contents[0], "text", "").splitlines() == "\n".join(seen).splitlines()

    talk(converse, work, mlir_opt)
    printed = shell(work, [mlir_opt, "long.mlir", "--cse"], "start", "print module")
    assert "\n".join(seen) in printed


# --- the tools -----------------------------------------------------------------------------


def test_places_have_a_history(mlir_opt: str, work: Path) -> None:
    async def converse(talk: Talk) -> None:
        await talk.do("open", command=[mlir_opt, *CANONICALIZE])
        for place in ("fold.mlir:8", "8", "%twice"):
            assert "@5 arith.addi" in (await talk.do("history", target=place)).text
        assert "func.func" in (await talk.do("history", target="@shift")).text
        assert "There is no place 'twice'" in await talk.fail("history", target="twice")
        assert "The command line is empty" in await talk.fail("command", line=" ")

    talk(converse, work, mlir_opt)


def test_tools_answer_as_the_shell_does(mlir_opt: str, work: Path) -> None:
    command = [mlir_opt, *CANONICALIZE]

    async def converse(talk: Talk) -> None:
        await talk.do("open", command=command)
        for lines, tool, arguments in (
            (["advance pattern:AddIAddConstant"], "run", {"to": "pattern:AddIAddConstant"}),
            (["print function --generic"], "show_ir", {"what": "function", "generic": True}),
            (["print @5 --locations"], "show_ir", {"what": "@5", "locations": True}),
            (["around 2"], "show_ir", {"lines": 2}),
            (["next"], "step", {"unit": "action"}),
            (["advance --after pass:cse"], "run", {"to": "pass:cse", "after": True}),
            (["goto #11 --after"], "run", {"to": "#11", "after": True}),
            (["next-change"], "step", {"unit": "change"}),
            (["reverse-next"], "step", {"unit": "action", "back": True}),
            (["reverse-step 3"], "step", {"back": True, "count": 3}),
            (["diff #11 --elide 16"], "changes", {"ordinal": 11}),
            (["history %twice"], "history", {"target": "%twice"}),
            (["explain op:arith.*"], "explain", {"target": "op:arith.*"}),
            (["goto cse"], "command", {"line": "goto cse"}),
            (["track-back @10"], "history", {"target": "@10", "direction": "came_from"}),
            (["related @10"], "history", {"target": "@10", "direction": "related"}),
            (["whatif drop cse"], "whatif", {"alternatives": "drop cse"}),
        ):
            history.extend(lines)
            answered = await talk.ask(tool, **arguments)
            texts.append(answered.text)
        assert "leave count out" in await talk.fail("step", unit="success", count=2)

    history, texts = ["start"], list[str]()
    talk(converse, work, mlir_opt)
    words = [word for line in history for word in ("-ex", f"echo === {line}", "-ex", line)]
    done = subprocess.run(
        [COMMAND, "-nx", "--batch", "--keep-going", *words, *command],
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    printed = [part.partition("\n")[2] for part in done.stdout.split("=== ")][2:]
    assert len(printed) == len(texts) == 17
    for line, expected, text in zip(history[1:], printed, texts, strict=True):
        assert _timeless(text).startswith(_timeless(expected).rstrip()), line


def _timeless(text: str) -> str:
    return re.sub(r" *\b\d[\d.]* (ns|us|ms|s)\b", " T", text)


def test_a_recording_is_made_queried_and_debugged(mlir_opt: str, work: Path) -> None:
    command = [mlir_opt, *CANONICALIZE]
    sql = "select name, count(*) as n from actions group by name order by n desc, name limit 5"

    async def converse(talk: Talk) -> None:
        assert "29 actions" in (await talk.do("record", command=command, output="r.adbrec")).text
        answer = (await talk.do("query", recordings=["r.adbrec"], sql=sql)).text
        shutil.copy(work / "r.adbrec", work / "copy.adbrec")
        done = command_line.run("query", "copy.adbrec", sql, cwd=work)
        assert answer == done.stdout.rstrip()
        assert "actions     ordinal" in (await talk.do("query", recordings=["r.adbrec"])).text
        await talk.do("open", recording="r.adbrec")
        assert (await talk.do("run", to="pattern:AddIAddConstant")).stop["ordinal"] == 5
        assert (await talk.do("run", to="#11")).stop["name"] == "AddIAddConstant"
        assert "arith.addi" in (await talk.do("show_ir", what="function")).text
        refused = await talk.fail("skip")
        assert "recording" in refused and "actiondbg" in refused
        await talk.do("step", unit="action")
        assert "-  %twice" in (await talk.do("changes")).text
        [resource] = [
            each
            for each in (await talk.client.list_resources()).resources
            if str(each.uri) == "actiondbg://recording/r.adbrec"
        ]
        text = getattr((await talk.client.read_resource(resource.uri)).contents[0], "text", "")
        assert "AddIAddConstant" in text and "canonicalize" in text

    talk(converse, work, mlir_opt)


def test_skips_and_edits(mlir_opt: str, work: Path) -> None:
    command = [mlir_opt, "fold.mlir", "--canonicalize", "-o", "out.mlir"]

    async def converse(talk: Talk) -> None:
        await talk.do("open", command=command)
        text = (await talk.do("edit", what="module")).text
        assert "3 : i32" in text
        edited = await talk.do("edit", what="module", text=text.replace("3 : i32", "40 : i32"))
        assert "edit" in edited.text.lower()
        assert (await talk.do("run")).stop["status"] == 0
        assert "constant 42" in (work / "out.mlir").read_text()
        await talk.do("run", to="#1")
        await talk.do("edit", undo=True)
        assert "Pending" not in (await talk.do("skip", spec="pattern:AddIAddConstant")).text
        assert (await talk.do("run", restart=True)).stop["status"] == 0
        assert (work / "out.mlir").read_text().count("arith.addi") == 2
        assert "give one of them" in await talk.fail("edit", undo=True, pipeline="cse")

    talk(converse, work, mlir_opt)


def test_a_failed_legalization_by_its_prompt(mlir_opt: str, work: Path) -> None:
    """The steps that the prompt names lead to what ``actiondbg explain`` prints."""
    shutil.copy(GOLDEN / "inputs/vector.mlir", work)
    command = [mlir_opt, "vector.mlir", "--convert-arith-to-spirv"]

    async def converse(talk: Talk) -> None:
        prompt = await talk.client.get_prompt("failed_legalization", {"command": " ".join(command)})
        text = getattr(prompt.messages[0].content, "text", "")
        assert " ".join(command) in text
        assert "set_breakpoint with kind 'catch' and what 'failure'" in text
        await talk.do("open", command=command)
        once = await talk.fail("set_breakpoint", kind="catch", what="failure", temporary=True)
        assert "a catch takes a condition only" in once
        await talk.do("set_breakpoint", kind="catch", what="failure")
        caught = await talk.do("run")
        assert caught.stop["reason"] == "catch"
        assert "error: failed to legalize operation" in caught.text
        explained.append((await talk.do("explain")).text)
        with pytest.raises(MCPError, match="command"):
            await talk.client.get_prompt("failed_legalization", {})

    explained = list[str]()
    talk(converse, work, mlir_opt)
    done = command_line.run("explain", "--", *command, cwd=work)
    assert explained == [done.stdout.rstrip()]


def test_bisect_finds_a_planted_skip(mlir_opt: str, work: Path) -> None:
    """The first application that merges constants, judged by FileCheck, as the session shows it."""
    (work / "good.check").write_text("// CHECK-COUNT-2: arith.addi\n")

    async def converse(talk: Talk) -> None:
        command = [mlir_opt, "fold.mlir", "--canonicalize"]
        oracle = {"filecheck": "good.check"}
        found = await talk.do("bisect", command=command, oracle=oracle, output="found")
        assert "Found: #11 apply-pattern (AddIAddConstant)" in found.text
        assert "Reproducer: found/repro.sh" in found.text
        assert (work / "found/repro.sh").exists()
        await talk.do("open", command=command)
        await talk.do("run", to="#11")
        assert (await talk.do("skip")).text.count("arith.addi") == 2

    talk(converse, work, mlir_opt)


def test_validate_judges_chosen_functions(mlir_opt: str, work: Path) -> None:
    shutil.copy(ROOT / "examples/miscompiles/while-if.mlir", work)

    async def converse(talk: Talk) -> None:
        command = [mlir_opt, "while-if.mlir", "--canonicalize"]
        found = await talk.do("validate", command=command, func=["count"], output="found")
        assert "1 function left out by --func.\nThe first different action is #8" in found.text
        assert (work / "found/counterexample-after.mlir").exists()
        assert "matches 'none': there are count and main" in await talk.fail(
            "validate", command=command, func=["none"]
        )

    talk(converse, work, "--allow", "execute", mlir_opt)


def test_doctor_examines_the_tools_of_the_server(mlir_opt: str, work: Path) -> None:
    async def converse(talk: Talk) -> None:
        assert "mlir-opt: it can be debugged" in (await talk.do("doctor")).text

    talk(converse, work, mlir_opt)


def test_sessions_are_chosen_by_their_ids(mlir_opt: str, work: Path) -> None:
    command = [mlir_opt, *CANONICALIZE]

    async def converse(talk: Talk) -> None:
        assert "call open" in await talk.fail("step")
        for _ in range(2):
            await talk.do("open", command=command)
        assert "open are s1, s2" in await talk.fail("step")
        await talk.do("run", session="s1", to="#11")
        assert (await talk.do("step", session="s2")).stop["ordinal"] < 11
        assert (await talk.do("step", session="s1")).stop["ordinal"] == 11
        await talk.do("close", session="s1")
        assert "There is no session 's1'; open are s2" in await talk.fail("step", session="s1")
        assert (await talk.do("step")).data["session"] == "s2"
        ended = await talk.do("open", command=[mlir_opt, "missing.mlir", "--nonsense"])
        assert ended.stop["status"] == 1 and "'--nonsense'" in ended.text

    talk(converse, work, mlir_opt)


def test_packages_that_are_missing() -> None:
    """The help needs none; neither does another subcommand import any."""
    code = (
        "import importlib.util, sys\n"
        "sys.modules['mcp'] = None\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name: None if name == 'mcp' else found(name)\n"
        "from actiondbg.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(command, capture_output=True, text=True)

    refused = run("mcp")
    assert (refused.returncode, refused.stderr) == (
        1,
        "actiondbg: actiondbg mcp needs the package mcp: pip install 'actiondbg[mcp]'.\n",
    )
    assert run("mcp", "--help").returncode == run("doctor", "--help").returncode == 0


def test_answers_have_a_declared_shape(mlir_opt: str, work: Path) -> None:
    from actiondbg.commands.mcp.answers import Answer

    async def converse(talk: Talk) -> None:
        for tool, arguments in (
            ("open", {"command": [mlir_opt, *CANONICALIZE]}),
            ("step", {}),
            ("step", {"unit": "action"}),
            ("run", {}),
            ("nothing", {}),
            ("close", {}),
        ):
            answered = await talk.ask(tool, **arguments)
            answer = msgspec.convert(answered.data, Answer)
            assert answer.text == answered.text

    talk(converse, work, mlir_opt)
