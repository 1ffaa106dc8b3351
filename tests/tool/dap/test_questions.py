"""Questions of the side views, which never resume the tool."""

from __future__ import annotations

from tests.fakes.dap_client import ServedClient
from tests.tool.dap.conftest import MLIR_OPT


def test_why_not_of_a_pattern_that_was_not_tried_yet(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    stop = client.resume("configurationDone")
    found = client.request("actiondbg/whyNot", {"pattern": "AddIAddConstant"})
    assert found["text"] == "There was no attempt of AddIAddConstant.\n"
    assert client.frames()[0]["name"] in stop["description"]


def test_actions_are_listed_with_their_outcomes(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    client.resume("configurationDone")
    found = client.request("actiondbg/actions", {"spec": "AddIAddConstant"})["result"]
    assert found["here"] == 1
    outcomes = [each["outcome"]["result"] for each in found["actions"]]
    assert outcomes.count("succeeded") == 1
    assert "failed" in outcomes
