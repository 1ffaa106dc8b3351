"""The place of the agent among the libraries that a user preloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.tool.agent_environment import preload_with

AGENT = Path("/a/agent.so")


@pytest.mark.parametrize(
    ("users", "wanted"),
    [
        ("", "/a/agent.so"),
        ("/x/libjemalloc.so.2", "/a/agent.so:/x/libjemalloc.so.2"),
        ("/x/libasan.so.8", "/x/libasan.so.8:/a/agent.so"),
        ("libtsan.so.2.0.0", "libtsan.so.2.0.0:/a/agent.so"),
        ("libubsan.so", "libubsan.so:/a/agent.so"),
        ("liblsan.so.0", "liblsan.so.0:/a/agent.so"),
        ("libhwasan.so.0", "libhwasan.so.0:/a/agent.so"),
        ("/c/libclang_rt.asan-x86_64.so", "/c/libclang_rt.asan-x86_64.so:/a/agent.so"),
        (":libasan.so.8 libubsan.so.1 b.so", "libasan.so.8:libubsan.so.1:/a/agent.so:b.so"),
        # It is not the first one for the user, either.
        ("b.so:libasan.so.8", "/a/agent.so:b.so:libasan.so.8"),
        ("/libasan.so.d/b.so", "/a/agent.so:/libasan.so.d/b.so"),
    ],
)
def test_the_agent_is_behind_sanitizers_only(users: str, wanted: str) -> None:
    assert preload_with(AGENT, users) == wanted
