"""The compilation of the agent, when actiondbg is built."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.tool.compiler import FLAGS, LINK_FLAGS, find_compiler
from actiondbg.tool.shipped import AGENT_SOURCE, SHIPPED
from actiondbg.tool.weakening import weaken

# Rooms of the second translation unit, which is compiled in parallel to the first. Code that runs
# for each action is in the first one, where it can be inlined.
_SECOND_UNIT = frozenset({"detour", "edit", "fork", "match", "print", "requests"})
# Libraries and programs of their own, and what a compilation that was killed has left.
_OTHERS = frozenset({"calls", "peaks", SHIPPED.name})


def compile_agent(target: Path, source: Path = AGENT_SOURCE) -> None:
    """Compile the agent, atomically.

    Args:
        target: the path of the shared object.
        source: the directory of its sources.

    Raises:
        AgentBuildError: there is no compiler, or it fails.
        OSError: the target cannot be written.
    """
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix="build-", dir=target.parent) as directory:
        units = write_units(source, Path(directory))
        objects = [unit.with_suffix(".o") for unit in units]
        options = [*FLAGS, *include_flags(source)]
        _run(
            [
                [*compiler, *options, "-c", str(unit), "-o", str(compiled)]
                for unit, compiled in zip(units, objects, strict=True)
            ],
            directory,
        )
        built = Path(directory) / target.name
        exports = f"-Wl,--version-script={source / 'exports.map'}"
        link = [*compiler, *FLAGS, *map(str, objects), "-o", str(built), *LINK_FLAGS, exports]
        _run([link], directory)
        weaken(built)
        built.chmod(0o755)  # for all users of the environment, whatever the umask is
        built.replace(target)


def include_flags(source: Path = AGENT_SOURCE) -> list[str]:
    """List the compiler's options for the places of headers."""
    return ["-iquote", str(source), "-isystem", str(source / "standins" / "include")]


def write_units(source: Path, directory: Path) -> list[Path]:
    """Write the agent's translation units into a directory: a file each that includes sources."""
    includes: dict[bool, list[str]] = {}
    for file in sorted([*source.rglob("*.cpp"), *source.rglob("glibc/*.c")]):
        room = file.relative_to(source).parts[0]
        if room not in _OTHERS:
            includes.setdefault(room in _SECOND_UNIT, []).append(f'#include "{file}"\n')
    units: list[Path] = []
    for number, lines in enumerate(includes.values()):
        unit = directory / f"unit{number}.cpp"
        unit.write_text("".join(lines))
        units.append(unit)
    return units


def _run(commands: list[list[str]], directory: str) -> None:
    """Run compilers in parallel.

    Raises:
        AgentBuildError: one has failed; its messages are on stderr.
    """
    # Temporary files of a killed compiler are removed with the directory.
    environment = {**os.environ, "TMPDIR": directory, "LC_ALL": "C"}
    processes = [
        subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL) for command in commands
    ]
    try:
        failed = any([process.wait() != 0 for process in processes])
    finally:
        for process in processes:
            process.kill()
            process.wait()
    if failed:
        raise AgentBuildError(
            f"The agent could not be compiled with {commands[0][0]}: read its messages above, or "
            "set CXX to another compiler."
        )
