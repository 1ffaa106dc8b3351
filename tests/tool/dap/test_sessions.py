"""Sessions of tools, recordings and programs, as an editor has them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import PYPI
from tests.fakes import command_line
from tests.fakes.dap_client import Refused, ServedClient, connect
from tests.paths import COMMAND, GOLDEN
from tests.tool.dap.conftest import MLIR_OPT

PATTERN = "pattern:AddIAddConstant if line == 8"


def test_the_output_of_the_tool_is_its_own(fold: str, client: ServedClient) -> None:
    argv = [MLIR_OPT, fold, "--canonicalize", "--mlir-print-ir-after-all"]
    client.launch(*argv)
    assert client.run_to_end("configurationDone") == 0
    plain = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert client.output["stdout"] == plain.stdout
    assert client.output["stderr"] == plain.stderr
    assert client.disconnect() == 0


def test_a_tool_that_fails_has_its_exit_code(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, "missing.mlir")
    assert client.run_to_end("configurationDone") == 1
    assert "missing.mlir" in client.output["stderr"]


@pytest.mark.parametrize(
    ("configuration", "named"),
    [
        ({"tool": "no-such-tool"}, "no-such-tool"),
        ({}, "'tool' or a 'recording'"),
        ({"tool": MLIR_OPT, "recording": "x.adbrec"}, "not both"),
        ({"recording": "missing.adbrec"}, "missing.adbrec"),
        ({"tool": MLIR_OPT, "stopOnEntry": "yes"}, "stopOnEntry"),
        ({"tool": MLIR_OPT, "cwd": "/no/such/folder"}, "/no/such/folder"),
        ({"tool": MLIR_OPT, "skips": "missing.skips"}, "missing.skips"),
    ],
)
def test_a_wrong_configuration_is_refused(
    fold: str, client: ServedClient, configuration: dict[str, object], named: str
) -> None:
    client.initialize()
    with pytest.raises(Refused) as refused:
        client.request("launch", configuration)
    assert named in refused.value.sentence
    client.request("launch", {"tool": MLIR_OPT, "args": [fold]})


def test_requests_out_of_order_are_refused(fold: str, client: ServedClient) -> None:
    for command in ("launch", "next", "stackTrace", "actiondbg/ir", "noSuchRequest"):
        with pytest.raises(Refused):
            client.request(command, {"tool": MLIR_OPT})
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    with pytest.raises(Refused, match="notStopped"):
        client.request("next", {})
    client.run()
    with pytest.raises(Refused, match="restart"):
        client.request("configurationDone")


def test_breakpoints_say_what_became_of_them(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize")
    found = client.break_in(
        fold,
        {"line": 8, "condition": "tag == 'apply-pattern'", "hitCondition": "2"},
        1,
        99,
        {"line": 7, "condition": "colour == 1"},
        {"line": 7, "hitCondition": "often"},
    )
    assert [(each["verified"], each.get("reason")) for each in found] == [
        (True, None),
        (False, "failed"),
        (False, "pending"),
        (False, "failed"),
        (False, "failed"),
    ]
    assert "comment" in found[1]["message"] and "10 lines" in found[2]["message"]
    assert "colour" in found[3]["message"] and "'often'" in found[4]["message"]
    stop = client.run()
    assert stop["hitBreakpointIds"] == [found[0]["id"]]
    assert client.frames()[0]["name"].startswith("#13 ")  # the second on line 8
    again = client.break_in(fold, {"line": 8, "mode": "failed"})
    assert again[0]["id"] != found[0]["id"]
    client.resume("continue")
    assert "failed" in client.evaluate("info breakpoints")


def test_hit_counts_are_those_of_each_run(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize")
    asked = {"name": "pattern:AddIAddConstant", "condition": "line == 8", "hitCondition": "2"}
    client.request("setFunctionBreakpoints", {"breakpoints": [asked]})
    client.run()
    assert client.frames()[0]["name"].startswith("#13 ")
    for line in ("run", "restart"):  # in the debug console
        client.evaluate(line)
        client.event("stopped")
        assert client.frames()[0]["name"].startswith("#13 ")
    client.resume("restart")
    assert client.frames()[0]["name"].startswith("#13 ")


def test_a_breakpoint_becomes_verified_when_its_name_is_known(
    fold: str, client: ServedClient
) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    pending = client.break_at("tag:my-own", "in:cse")[0]
    assert not pending["verified"] and pending["reason"] == "pending"
    client.run()
    client.evaluate("delete all")
    assert client.break_at("pattern:AddIAddConstant")[0]["verified"]


def test_a_log_point_logs_and_does_not_stop(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize")
    message = "{ordinal} {name} at {location}"
    client.break_in(fold, {"line": 8, "condition": "tag == 'apply-pattern'", "logMessage": message})
    assert client.run_to_end("configurationDone") == 0
    logged = [line for line in client.output["console"].splitlines() if "fold.mlir:8" in line]
    assert logged[0] == "11 AddIAddConstant at fold.mlir:8:12"
    assert len(logged) == 11  # as the targets of goto on that line


def test_a_log_point_after_actions_tells_how_they_ended(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize")
    asked = {"line": 8, "mode": "after", "condition": "tag == 'apply-pattern'"}
    wrong, right = client.break_in(
        fold,
        {**asked, "logMessage": "{ordinal} {colour}"},
        {**asked, "logMessage": "{ordinal} {outcome}, {changes} changes, {reasons}."},
    )
    assert not wrong["verified"] and "has no {colour}: take {name}, " in wrong["message"]
    assert right["verified"]
    assert client.run_to_end("configurationDone") == 0
    logged = client.output["console"].splitlines()
    assert "11 succeeded, 5 changes, ." in logged
    assert any(" failed, 0 changes, There's no operation" in line for line in logged)


def test_log_points_of_names_and_of_data_log_and_do_not_stop(
    fold: str, client: ServedClient
) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    named = {"name": "pattern:AddIAddConstant", "condition": "line == 8", "hitCondition": "2"}
    wanted = [
        {**named, "logMessage": "tried at #{ordinal}, {pass}, {hits}"},
        {**named, "logMessage": "{colour}"},
    ]
    made = client.request("setFunctionBreakpoints", {"breakpoints": wanted})["breakpoints"]
    assert [each["verified"] for each in made] == [True, False]
    assert "has no {colour}" in made[1]["message"]
    client.run()
    watched = {"dataId": "op:arith.addi count", "logMessage": "watched, {when} #{ordinal}"}
    made = client.request("setDataBreakpoints", {"breakpoints": [watched]})["breakpoints"]
    assert made[0]["verified"]
    assert client.run_to_end() == 0
    lines = client.output["console"].splitlines()
    assert [line for line in lines if line.startswith("tried at")] == [
        "tried at #13, canonicalize, 2",
        "tried at #23, canonicalize, 3",
    ]
    assert "watched, before #12" in lines


def test_lines_of_the_ir_have_breakpoints(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    client.run()
    document = client.request("actiondbg/ir", {})
    line = next(
        at for at, text in enumerate(document["text"].splitlines(), 1) if "%twice =" in text
    )
    source = {"sourceReference": document["sourceReference"]}
    arguments = {"source": source, "breakpoints": [{"line": line}]}
    assert client.request("setBreakpoints", arguments)["breakpoints"][0]["verified"]
    client.resume("continue")
    assert client.variables("Action")["operation"]["value"].startswith("@5 ")
    text = client.request("source", {"sourceReference": document["sourceReference"]})
    assert text["content"] == document["text"]


def test_the_ir_shows_what_the_action_changed(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize")
    client.break_at(PATTERN)
    client.run()
    client.resume("next")
    document = client.request("actiondbg/ir", {})
    new = next(text for text in document["text"].split() if text in ("%0", "%1"))
    lines = document["text"].splitlines()
    marks = {
        (each["kind"], lines[each["line"] - 1].strip())
        for each in document["marks"]
        if each["kind"] != "erased"
    }
    assert marks == {
        ("inserted", "%c5_i32 = arith.constant 5 : i32"),
        ("inserted", f"{new} = arith.addi %x, %c5_i32 : i32"),
        ("modified", f"return {new} : i32"),
    }
    erased = [each["text"].strip() for each in document["marks"] if each["kind"] == "erased"]
    assert erased == ["%twice = arith.addi %once, %three : i32"]
    assert lines[document["cursorLine"] - 1].strip() == f"{new} = arith.addi %x, %c5_i32 : i32"


def test_a_large_function_is_shown_in_part(tmp_path: Path, client: ServedClient) -> None:
    body = "".join(f"  %v{n + 1} = arith.muli %v{n}, %w : i32\n" for n in range(5000))
    text = f"func.func @big(%v0: i32, %w: i32) -> i32 {{\n{body}  return %v5000 : i32\n}}\n"
    source = tmp_path / "big.mlir"
    source.write_text(text)
    client.launch(MLIR_OPT, str(source), "--canonicalize", show="ir", irLines=30)
    client.break_at("fold:arith.muli if line == 2000")
    client.run()
    document = client.request("actiondbg/ir", {})
    assert document["moreBefore"] and document["moreAfter"]
    assert len(document["text"].splitlines()) == 61
    frame = client.frames()[0]
    shown = client.request("source", {"sourceReference": frame["source"]["sourceReference"]})
    assert "%v1999 = " in shown["content"].splitlines()[frame["line"] - 1]


def test_variables_have_the_action_its_outcome_and_operands(
    fold: str, client: ServedClient
) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize")
    client.break_at("pattern:AddIAddConstant --outcome failed")
    client.run()
    assert client.variables("Outcome")["result"]["value"] == "failed"
    assert "no operation that defines" in client.variables("Outcome")["reason 0"]["value"]
    info = client.request("exceptionInfo", {"threadId": 1})
    assert "no operation that defines" in info["description"]
    operands = client.variables("Operation")["operands"]
    parts = client.parts(operands["variablesReference"])
    assert [each["value"] for each in parts.values()] == [
        "%x, an argument of ^bb0 of func.func",
        "%two = arith.constant 2 : i32",
    ]
    inner = client.parts(parts["1"]["variablesReference"])
    assert inner["text"]["value"] == "%two = arith.constant 2 : i32"
    attributes = client.parts(inner["attributes"]["variablesReference"])
    assert attributes["value"]["value"] == "2 : i32"
    assert client.evaluate("once", "hover") == "%once = arith.addi %x, %two : i32"
    with pytest.raises(Refused):
        client.evaluate("nothing", "hover")
    with pytest.raises(Refused, match="'step' cannot be watched"):
        client.evaluate("step", "watch")


def test_a_data_breakpoint_watches_an_attribute_whose_name_has_a_blank(
    fold: str, client: ServedClient
) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize")
    client.break_at("pattern:AddIAddConstant")
    client.run()
    asked = {"name": 'attribute "a b" of cursor'}
    target = client.request("dataBreakpointInfo", asked)["dataId"]
    assert re.fullmatch(r'attribute "a b" of @\d+', target)
    wanted = {"breakpoints": [{"dataId": target}]}
    assert client.request("setDataBreakpoints", wanted)["breakpoints"][0]["verified"]


@pytest.mark.parametrize("context", ["watch", "variables", "clipboard"])
def test_watched_expressions_only_read(context: str, fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize")
    client.break_at("pattern:AddIAddConstant")
    client.run()
    assert client.evaluate("once", context) == "%once = arith.addi %x, %two : i32"
    assert client.evaluate("count op:arith.*", context) == "4 arith.* in the module"
    assert "AddIAddConstant" in client.evaluate("info action", context)
    for abbreviated in ("q", "k", "d", "c"):
        with pytest.raises(Refused, match=f"no value %{abbreviated}"):
            client.evaluate(abbreviated, context)
    for line in (
        "quit",
        "kill",
        "delete",
        "set args --cse",
        "break cse",
        "info outc",
        "d 1",
        "bt\nkill",
    ):
        with pytest.raises(Refused, match="cannot be watched"):
            client.evaluate(line, context)
    for line in ("info action > out.txt", "info action | cat"):
        with pytest.raises(Refused, match="behind a command is switched off"):
            client.evaluate(line, context)
    assert not Path("out.txt").exists()
    assert "AddIAddConstant" in client.evaluate("info breakpoints")
    client.break_at()
    assert client.run_to_end() == 0


def test_another_file_of_the_name_of_the_input_has_no_breakpoints(
    fold: str, tmp_path: Path, client: ServedClient
) -> None:
    other = tmp_path / "other" / fold
    other.parent.mkdir()
    other.write_text(Path(fold).read_text())
    client.launch(MLIR_OPT, str(tmp_path / fold), "--canonicalize", cwd=str(other.parent))
    (refused,) = client.break_in(other, 7)
    assert not refused["verified"]
    assert f"set the breakpoint in '{tmp_path / fold}'" in refused["message"]
    (link := tmp_path / "other" / "link").symlink_to(tmp_path)
    for path in (link / fold, Path("/nowhere") / fold):
        (made,) = client.break_in(path, 7)
        assert made["verified"]
    assert "fold.mlir:7" in client.run()["description"]


def test_lines_and_modes_that_never_stop_are_refused(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize")
    closing, mode = client.break_in(fold, 10, {"line": 7, "mode": "sometimes"})
    assert "line 10, which only closes a region" in closing["message"]
    assert "no mode 'sometimes': the modes are before, after" in mode["message"]
    assert not closing["verified"] and not mode["verified"]


def test_repeated_operands_and_results_are_told_apart(tmp_path: Path, client: ServedClient) -> None:
    (tmp_path / "in.mlir").write_text(
        "func.func @f(%x: i32, %y: i1) -> i32 {\n"
        "  %a:2 = scf.if %y -> (i32, i32) {\n    scf.yield %x, %x : i32, i32\n  } else {\n"
        "    scf.yield %x, %x : i32, i32\n  }\n"
        "  %s = arith.muli %a#1, %a#1 : i32\n  return %s : i32\n}\n"
    )
    client.launch(MLIR_OPT, "in.mlir", "--cse", cwd=str(tmp_path), stopOnEntry=True)
    client.resume("configurationDone")
    client.evaluate("cursor-goto %s", "repl")
    operands = client.variables("Operation")["operands"]
    parts = client.parts(operands["variablesReference"])
    assert {name: each["value"] for name, each in parts.items()} == {
        index: "%a#1 of %a:2 = scf.if %y -> (i32, i32) {...} else {...}" for index in ("0", "1")
    }


def test_a_failure_is_caught_as_an_exception(tmp_path: Path, client: ServedClient) -> None:
    (tmp_path / "in.mlir").write_text((GOLDEN / "inputs" / "vector.mlir").read_text())
    client.launch(MLIR_OPT, "in.mlir", "--convert-arith-to-spirv", cwd=str(tmp_path))
    filters = {"filters": [], "filterOptions": [{"filterId": "failure", "condition": "*spirv*"}]}
    caught = client.request("setExceptionBreakpoints", filters)["breakpoints"]
    assert [each["verified"] for each in caught] == [True]
    # The word if is no beginning of a condition.
    filters["filterOptions"].append({"filterId": "diagnostic", "condition": "*what if this*"})
    caught = client.request("setExceptionBreakpoints", filters)["breakpoints"]
    assert [each["verified"] for each in caught] == [True, True]
    stop = client.run()
    assert stop["reason"] == "exception" and "convert-arith-to-spirv" in stop["description"]
    info = client.request("exceptionInfo", {"threadId": 1})
    assert info["exceptionId"] == "failure"
    assert "#1 pass-execution" in info["details"]["stackTrace"]
    explained = client.request("actiondbg/explain", {})
    assert explained["places"]["in.mlir:5:10"]["line"] == 5
    assert "arith.muli" in explained["text"]
    assert client.run_to_end() == 1
    assert "failed to legalize" in client.output["stderr"]


def test_a_stop_outside_of_actions_has_a_frame(tmp_path: Path, client: ServedClient) -> None:
    deep = tmp_path / "deep.mlir"
    deep.write_text("module {" * 60_000 + "}" * 60_000)  # crashes the parser
    client.launch(MLIR_OPT, str(deep))
    client.run()
    (frame,) = client.frames()
    assert frame["name"] == "Stopped outside of any action"
    assert frame["presentationHint"] == "label"


def test_time_travel_and_a_skip(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopAtEnd=True)
    client.break_at(PATTERN)
    first = client.run()["description"]
    client.resume("next")
    assert client.resume("stepBack")["description"] == first
    client.resume("actiondbg/skip", step=True)
    client.break_at()
    client.request("continue", {})
    assert client.event("stopped")["reason"] == "exit"
    assert "%1 = arith.addi %0, %c3_i32 : i32" in client.output["stdout"]
    assert client.frames()[0]["presentationHint"] == "label"
    client.resume("actiondbg/goto", place="#5")
    targets = client.request("gotoTargets", {"source": {"path": os.path.abspath(fold)}, "line": 8})[
        "targets"
    ]
    assert [each["id"] for each in targets][:2] == [10, 11]
    assert client.resume("goto", targetId=10, threadId=1)["reason"] == "goto"
    outer = client.frames()[-1]
    assert "#1 " in client.resume("restartFrame", frameId=outer["id"])["description"]


def test_the_debug_console_is_the_shell(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True, allow=["py"])
    client.run()
    completions = client.request("completions", {"text": "break pattern:AddIAdd", "column": 22})
    assert [each["label"] for each in completions["targets"]] == ["pattern:AddIAddConstant"]
    assert client.evaluate("py print(session.stop.ordinal)") == "1"
    for line in ("shell touch x", "native", "print module > x", "bt | cat > x", "run > x"):
        with pytest.raises(Refused, match="'allow'"):
            client.evaluate(line)
    assert not Path("x").exists()
    client.evaluate("cursor-goto %once")
    assert client.event("actiondbg/cursorMoved")["operation"] == 4
    assert "#2 " in client.evaluate("step")
    assert client.event("stopped")["reason"] == "step"
    assert client.request("actiondbg/neverHit")["result"] == {"breakpoints": []}


def test_the_command_quit_ends_the_session(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    client.run()
    client.evaluate("quit")
    client.event("terminated")
    assert client.resume("restart")["reason"] == "entry"
    assert client.run_to_end() == 0


def test_a_recording_is_debugged_like_the_tool(fold: str, client: ServedClient) -> None:
    record = ["record", "-q", "-o", "run.adbrec", "--ir", "function", "--"]
    command_line.run(*record, MLIR_OPT, fold, "--canonicalize", "-o", "out", check=True)
    client.launch(recording="run.adbrec")
    unknown, known = client.break_at("nosuch", PATTERN)
    assert (unknown["reason"], known["verified"]) == ("failed", True)
    client.run()
    assert client.frames()[0]["line"] == 8
    assert client.request("actiondbg/ir")["marks"] == []
    client.resume("next")
    assert {each["kind"] for each in client.request("actiondbg/ir")["marks"]} == {
        "inserted",
        "erased",
    }
    with pytest.raises(Refused, match="running tool"):
        client.request("actiondbg/skip", {})
    client.resume("reverseContinue")
    client.break_at()
    assert client.run_to_end() == 0
    assert client.disconnect() == 0


def test_a_bisection_has_progress_and_places(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True, allow=["shell"])
    client.run()
    options = ["--test", "! grep -q c5_i32", "-o", "found"]
    answer = client.request("actiondbg/bisect", {"options": options})
    assert answer["result"]["ordinal"] == 11
    assert answer["places"]["fold.mlir:8:12"]["line"] == 8
    assert Path(answer["places"]["report"]["path"]).is_file()
    client.event("progressEnd")


def test_oracles_need_permissions(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    client.run()
    for line, permission in (
        ("whatif --test 'touch ran' append cse", "shell"),
        ("bisect --test 'touch ran'", "shell"),
        ("bisect --execute", "execute"),
        ("validate #1", "execute"),
    ):
        with pytest.raises(Refused, match=f"switched off here: add '{permission}' to 'allow'"):
            client.evaluate(line)
    assert not Path("ran").exists()


def test_a_port_serves_one_client_after_the_other(fold: str) -> None:
    server = subprocess.Popen([COMMAND, "dap", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())
        assert port is not None
        for _ in range(2):
            client = connect(int(port[1]))
            client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
            client.run()
            client.request("disconnect", {})
            client.end()
    finally:
        server.terminate()
        server.wait(60)


def test_processes_of_a_program_are_announced(fold: str, client: ServedClient) -> None:
    script = "mlir-opt fold.mlir --canonicalize -o a; mlir-opt a --cse -o b"
    environment = {"PATH": f"{PYPI}:{os.environ['PATH']}"}
    client.launch("bash", "-c", script, env=environment)
    client.break_at("pass:*")
    client.run()
    client.resume("continue")
    assert "--cse" in client.evaluate("info processes")
    client.break_at()
    assert client.run_to_end() == 0
