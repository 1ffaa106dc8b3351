"""A Python program that waits, debugged from an editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.dap_client import Refused, ServedClient
from tests.tool.attachment.conftest import attachable
from tests.tool.attachment.test_connect import Waiting

__all__ = ["attachable"]
_PROGRAM = 'print(compile().count("arith.addi"))'


@pytest.mark.usefixtures("attachable")
def test_a_program_is_attached_to_and_goes_on(tmp_path: Path, client: ServedClient) -> None:
    waiting = Waiting(tmp_path, _PROGRAM)
    try:
        client.initialize()
        client.request("attach", {"socket": waiting.socket})
        client.event("initialized")
        client.break_at("pattern:AddIAddConstant")
        assert client.run()["reason"] == "breakpoint"
        assert "AddIAddConstant" in client.frames()[0]["name"]
        assert client.variables("Operation")["text"]["value"].startswith("%")
        assert client.disconnect() == 0
        output, _, status = waiting.end()
        assert (output, status) == ("2\n", 0)
    finally:
        waiting.process.kill()


def test_no_program_waits(client: ServedClient) -> None:
    client.initialize()
    with pytest.raises(Refused, match="no-such-socket"):
        client.request("attach", {"socket": "/no-such-socket"})
    with pytest.raises(Refused, match="'socket'"):
        client.request("attach", {})
