"""What is compiled when actiondbg is built, and shipped with it."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import source_hash
from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.support.user_directories import cache_directory, make_library_folder

AGENT_SOURCE = Path(__file__).resolve().parent.parent / "agent"
SHIPPED = AGENT_SOURCE / "built"
AGENT = "agent.so"
# Of the sources that the folder was built from: a wheel has none of them.
SUM = "sum"
_SOURCES = (".cpp", ".h", ".c", ".map")
_RECIPES = ("agent_compilation.py", "c_part.py", "compiler.py", "weakening.py")


def shipped_agent() -> Path:
    """Return the path of the agent; for its authors, of the one that ``$ACTIONDBG_AGENT`` names.

    Raises:
        AgentBuildError: it is not there, or was built from other sources, or cannot be preloaded.
    """
    given = os.environ.get("ACTIONDBG_AGENT")
    if not given:
        return shipped(AGENT)
    agent = Path(given).absolute()  # the tool may run in another folder
    _check_loadable(agent, "name another file in ACTIONDBG_AGENT, or unset it")
    return agent


def shipped(name: str) -> Path:
    """Return a shipped file, by a link in the user's cache if its own path cannot be preloaded.

    Raises:
        AgentBuildError: it is not there, or was built from other sources, or cannot be preloaded.
    """
    file = SHIPPED / name
    _check_loadable(file, "install actiondbg again, or run scripts/setup in a clone")
    if _is_outdated():
        raise AgentBuildError(
            f"The agent's sources in {str(AGENT_SOURCE)!r} were edited after it was compiled: run "
            "scripts/setup."
        )
    if is_preloadable(file):
        return file
    link = cache_directory() / link_name(name)
    if not is_preloadable(link):
        raise AgentBuildError(
            f"The dynamic loader cannot preload an agent from {str(link.parent)!r}, as blanks and "
            "colons separate paths there: set XDG_CACHE_HOME to a directory without them."
        )
    try:
        link_to(file, link)
    except OSError as error:
        raise AgentBuildError(
            f"The agent cannot be kept in {str(link.parent)!r} ({error.strerror}): set "
            "XDG_CACHE_HOME to a directory of yours that is writable and not mounted noexec."
        ) from error
    return link


def link_name(name: str) -> str:
    """Return the name of a link to a shipped file: another one for each build of actiondbg."""
    stem, dot, ending = name.partition(".")
    return f"{stem}-{sum_in(SHIPPED)}{dot}{ending}"


def sum_in(folder: Path) -> str | None:
    """Return the hash of the sources that a folder was built from; None if it was not built."""
    try:
        return (folder / SUM).read_text()
    except FileNotFoundError:
        return None


def sum_of_sources() -> str:
    """Return a hash of the sources in a clone, and of how they are compiled."""
    parts: list[bytes] = []
    for folder, rooms, files in os.walk(AGENT_SOURCE):
        rooms.sort()
        if folder == str(AGENT_SOURCE):
            rooms[:] = [room for room in rooms if room != SHIPPED.name]
        for name in sorted(files):
            if name.endswith(_SOURCES):
                parts += [name.encode(), _content(f"{folder}/{name}")]
    parts += [_content(f"{os.path.dirname(__file__)}/{recipe}") for recipe in _RECIPES]
    # The hash of .pyc files: the import of hashlib takes 5 ms.
    return source_hash(b"\0".join(parts)).hex()


def link_to(file: Path, link: Path) -> None:
    """Make a link in a folder for shared objects, atomically.

    Raises:
        OSError: the folder is unsuitable.
    """
    make_library_folder(link.parent)
    if not link.exists() or not link.samefile(file):
        temporary = link.with_suffix(f".{os.getpid()}")
        temporary.symlink_to(file)
        temporary.replace(link)


def is_preloadable(path: Path) -> bool:
    """Return whether the dynamic loader can preload a file: blanks and colons separate paths."""
    return not any(separator in str(path) for separator in " :")


def _check_loadable(file: Path, remedy: str) -> None:
    """Refuse a file without which the dynamic loader would start the program."""
    if not os.access(file, os.R_OK):
        what = "cannot be read" if file.exists() else "is missing"
    elif os.statvfs(file).f_flag & os.ST_NOEXEC:
        what = "is mounted noexec"
    else:
        return
    raise AgentBuildError(f"{str(file)!r} {what}: {remedy}.")


@cache
def _is_outdated() -> bool:
    return (AGENT_SOURCE / "exports.map").exists() and sum_in(SHIPPED) != sum_of_sources()


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as opened:
        return opened.read()
