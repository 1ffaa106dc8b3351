"""The text of runs of native debuggers."""

from __future__ import annotations

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.session.inspection.native_debugger import NativeRun


def start_text(run: NativeRun) -> str:
    """Return the text before a debugger gets the terminal."""
    places = [f"{one.name or 'no symbol'} at {one.place}" for one in run.functions]
    lines = [
        f"Attaching {run.debugger} to process {run.pid}, a fork of the tool.",
        *(f"  breakpoint in {place}" for place in places),
    ]
    return "\n".join(lines) + "\n"


def _native_text(_: RenderContext, run: NativeRun) -> str:
    if run.output is not None:
        return run.output
    return f"{run.debugger} and its fork have ended; the tool is still at its stop."


RENDERERS = (renders(NativeRun, _native_text),)
