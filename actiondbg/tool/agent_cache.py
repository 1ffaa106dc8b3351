"""The user's cache of agents, one for each build of MLIR."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.util import source_hash
from pathlib import Path
from typing import TypeAlias

from actiondbg.errors import AgentBuildError, UnfitTool
from actiondbg.support.user_directories import cache_directory, is_private, make_library_folder
from actiondbg.tool.compiler import Compiler, find_compiler, flags_of, link_flags_of
from actiondbg.tool.discovery import Tool, wanted_way, without_headers
from actiondbg.tool.seal import is_whole
from actiondbg.tool.shipped import AGENT_SOURCE, SHIPPED, shipped
from actiondbg.tool.way import Way

# What is no part of an agent: libraries of their own, and what other ways have instead.
_LEFT_OUT = {
    Way.NATIVE: ("calls/", "glibc/", "portable/", "detour/", "interpose/HookedCapabilities.cpp"),
    Way.DETOUR: ("calls/", "glibc/", "portable/", "interpose/exports.map"),
    Way.PORTABLE: ("calls/", "interpose/exports.map"),
}
# In the place of an agent, the reason why the tool has none.
_UNFIT = ".unfit"
# What an agent refers to, for other builds of the tool: they are examined before a compilation.
_REFERENCES = ".references"
OnCompile: TypeAlias = Callable[[], Callable[[], None] | None]


def build_agent(
    tool: Tool,
    on_start: OnCompile | None = None,
    source: Path = AGENT_SOURCE,
) -> Path:
    """Return the agent for a tool: the one that was shipped, or one that is compiled once.

    The portable agent is shipped with actiondbg. Other agents, and one whose source was edited, are
    compiled into the user's cache.

    Safe for concurrent processes: one process compiles, in a directory of its own, and the other
    processes wait for the agent.

    Args:
        tool: the result of find_tool.
        on_start: called before a compilation, which takes about ten seconds; a function that it
            returns is called after it.
        source: the directory of the agent's source.

    Returns:
        The path of the shared object.

    Raises:
        UnfitTool: the tool lacks functions that the agent calls.
        AgentBuildError: there is no compiler, it fails, or the cache cannot be written.
    """
    files = source_files(source, tool.way)
    shipped = _shipped_agent(tool, source, files)
    if shipped is not None:
        return shipped
    compiler = find_compiler()
    agent = _agent_path(tool, compiler, source, files)
    try:
        make_library_folder(agent.parent)
    except OSError as error:
        raise _unusable(agent.parent, error) from error
    if _is_usable(agent):
        return agent
    unfit = agent.with_suffix(_UNFIT)
    if unfit.exists():
        raise UnfitTool(unfit.read_text())
    # Imported lazily: every start looks up the agent, but few compile it.
    from actiondbg.support.atomic_write import write_whole
    from actiondbg.support.folder_lock import locked
    from actiondbg.tool.agent_compilation import compile_agent
    from actiondbg.tool.references import check_references

    of_headers = _agent_path(tool._replace(build_id=""), compiler, source, files)
    references = of_headers.with_suffix(_REFERENCES)
    on_end: Callable[[], None] | None = None
    try:
        if references.exists():
            check_references(tool, references.read_bytes().split())
        on_end = on_start() if on_start is not None else None
        with locked(agent.parent):
            if not _is_usable(agent):  # another process may have compiled it meanwhile
                compile_agent(tool, compiler, source, files, agent, references)
    except UnfitTool as error:
        write_whole(unfit, str(error).encode())
        raise
    except OSError as error:
        raise _unusable(agent.parent, error) from error
    finally:
        if on_end is not None:
            on_end()
    return agent


def _unusable(folder: Path, error: OSError) -> AgentBuildError:
    return AgentBuildError(
        f"The agent cannot be kept in {str(folder)!r} ({error.strerror}): set XDG_CACHE_HOME to "
        "a directory of yours that is writable and not mounted noexec."
    )


def agent_state(tool: Tool, source: Path = AGENT_SOURCE) -> str:
    """Return the state of a tool's agent: "shipped", "cached", "not compiled yet", or an error."""
    try:
        files = source_files(source, tool.way)
        if _shipped_agent(tool, source, files) is not None:
            return "shipped"
        agent = _agent_path(tool, find_compiler(), source, files)
    except AgentBuildError as error:
        return f"cannot be compiled: {error}"
    return "cached" if _is_usable(agent) else "not compiled yet"


def _is_usable(agent: Path) -> bool:
    return is_private(agent) and is_whole(agent)


def fitted(tool: Tool, source: Path = AGENT_SOURCE) -> Tool:
    """Return a tool, with the portable agent if the one with headers cannot be had.

    It does not fit the tool, or there is no compiler.
    """
    if tool.way is Way.PORTABLE or wanted_way() is not None:
        return tool
    try:
        compiler = find_compiler()
    except AgentBuildError as error:
        return without_headers(tool, str(error))
    if tool.way is not Way.DETOUR:
        return tool
    try:
        agent = _agent_path(tool, compiler, source, source_files(source, tool.way))
        return without_headers(tool, agent.with_suffix(_UNFIT).read_text())
    except (AgentBuildError, OSError):
        return tool


def _shipped_agent(tool: Tool, source: Path, files: Sequence[str]) -> Path | None:
    """Return the agent that was compiled from these sources when actiondbg was built, if any."""
    if tool.way is not Way.PORTABLE:
        return None
    return shipped(agent_name(source, files), source / SHIPPED)


def agent_name(source: Path, files: Sequence[str]) -> str:
    """Return the file name of the portable agent that is shipped."""
    return f"agent-{_key((Way.PORTABLE,), Way.PORTABLE, source, files)}.so"


def _agent_path(tool: Tool, compiler: Compiler, source: Path, files: Sequence[str]) -> Path:
    """Return the agent's path in the cache, named by a hash of all inputs of its compilation."""
    # One portable agent is for all tools.
    of_tool = () if tool.way is Way.PORTABLE else (tool.build_id, tool.llvm, *tool.headers)
    key = _key((*of_tool, tool.way, compiler.identity), tool.way, source, files)
    return cache_directory() / f"agent-{key}.so"


def _key(inputs: Sequence[str | Path], way: Way, source: Path, files: Sequence[str]) -> str:
    """Return a hash of the inputs of a compilation: sources, options, and others."""
    options = (*inputs, *flags_of(way), *link_flags_of(way))
    parts = [os.fsencode(part) for part in options]
    folder = f"{source}/"  # joining paths takes longer than reading them
    for file in files:
        with open(folder + file, "rb", buffering=0) as opened:
            content = opened.read()
        parts += file.encode(), str(len(content)).encode(), content
    # The hash of .pyc files: the import of hashlib takes 5 ms.
    return source_hash(b"\0".join(parts)).hex()


def source_files(source: Path, way: Way = Way.NATIVE) -> list[str]:
    """List the source files of a way's agent, as paths relative to its directory."""
    names: list[str] = []
    left_out = _LEFT_OUT[way]
    for folder, rooms, files in os.walk(source):
        room = os.path.relpath(folder, source)
        if room == ".":
            rooms[:] = [one for one in rooms if one != SHIPPED]  # another process may compile there
        for name in files:
            path = name if room == "." else f"{room}/{name}"
            is_source = name.endswith((".cpp", ".h", ".map")) or room == "glibc"
            if is_source and not path.startswith(left_out):
                names.append(path)
    # A file below portable replaces the one with the same path.
    present = set(names)
    names = sorted(name for name in names if f"portable/{name}" not in present)
    if not any(name.endswith(".cpp") for name in names):
        raise AgentBuildError(
            f"The agent's source is missing from {str(source)!r}: install actiondbg again."
        )
    return names
