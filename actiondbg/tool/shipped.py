"""What is compiled when actiondbg is built, and shipped with it."""

from __future__ import annotations

import os
from pathlib import Path

from actiondbg.support.user_directories import cache_directory, make_library_folder

AGENT_SOURCE = Path(__file__).resolve().parent.parent / "agent"
SHIPPED = "built"


def shipped(name: str, folder: Path = AGENT_SOURCE / SHIPPED) -> Path | None:
    """Return a shipped file, by a link in the user's cache if its own path cannot be preloaded.

    Args:
        name: has a hash of the sources in it, so that a file of other sources is not found.
        folder: what was shipped.
    """
    file = folder / name
    if not file.exists():
        return None
    link = cache_directory() / name
    if is_preloadable(file) or not is_preloadable(link):
        return file
    link_to(file, link)
    return link


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
