"""Questions of the side views, which never resume the tool."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.fakes.dap_client import Refused, ServedClient
from tests.tool.dap.conftest import MLIR_OPT


def test_why_not_of_a_pattern_that_was_not_tried_yet(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    stop = client.resume("configurationDone")
    found = client.request("actiondbg/whyNot", {"pattern": "AddIAddConstant"})
    assert found["text"] == "There was no attempt of AddIAddConstant.\n"
    assert client.frames()[0]["name"] in stop["description"]


def test_printed_ir_is_the_result_of_a_command(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    client.resume("configurationDone")
    found = client.request("actiondbg/command", {"line": "print module --plain"})
    assert found["text"] == found["result"]["text"]
    assert found["text"].startswith("module {")


def test_actions_are_listed_with_their_outcomes(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    client.resume("configurationDone")
    found = client.request("actiondbg/actions", {"spec": "AddIAddConstant"})["result"]
    assert found["here"] == 1
    outcomes = [each["outcome"]["result"] for each in found["actions"]]
    assert outcomes.count("succeeded") == 1
    assert "failed" in outcomes


def test_actions_are_counted_from_one(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    client.resume("configurationDone")
    for arguments in ({"first": 0}, {"count": -1}):
        with pytest.raises(Refused, match="The arguments of 'actiondbg/actions' are wrong"):
            client.request("actiondbg/actions", arguments)


def test_a_view_gives_way_to_a_step(tmp_path: Path, client: ServedClient) -> None:
    """Of a long run the pipeline takes seconds to read, as it is replayed to its end."""
    values = ["%x", *(f"%{number}" for number in range(6000))]
    lines = [f"  {b} = arith.addi {a}, %one : i32" for a, b in itertools.pairwise(values)]
    text = "\n".join(lines)
    (tmp_path / "long.mlir").write_text(
        "func.func @long(%x: i32) -> i32 {\n  %one = arith.constant 1 : i32\n"
        f"{text}\n  return {values[-1]} : i32\n}}\n"
    )
    client.launch(MLIR_OPT, str(tmp_path / "long.mlir"), "--canonicalize", stopOnEntry=True)
    client.resume("configurationDone")
    views = [client.send("actiondbg/pipeline"), client.send("actiondbg/pipeline")]
    stop = client.resume("stepIn")
    assert "before #2 " in stop["description"]
    for number in views:
        with pytest.raises(Refused, match="cancelled"):
            client.response(number)
