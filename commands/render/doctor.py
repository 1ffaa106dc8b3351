"""The text of an examined tool."""

from __future__ import annotations

import msgspec

from actiondbg.commands.render.tables import rows
from actiondbg.doctor.build_report import BuildReport, without_homes
from actiondbg.doctor.examination import Examined
from actiondbg.support.counts import counted


def examined_text(found: Examined) -> str:
    """Return what was found out about a tool, its verdict first."""
    facts: dict[str, object] = {
        "program": found.program,
        "mlir": found.object,
        "build": found.build,
        "llvm": found.llvm or "unknown",
        "compiler": ", ".join(found.compilers) or None,
        "symbols": found.symbols,
        "capabilities": None
        if found.capabilities is None
        else ", ".join(found.capabilities) or "none",
    }
    lines = rows(facts)
    missing: dict[str, list[str]] = {}  # by the reason
    for name, why in found.missing.items():
        missing.setdefault(why, []).append(name)
    for why, names in missing.items():
        lines.append(f"no {', '.join(names)}: {why}")
    return "\n".join([f"{found.name}: {_verdict(found)}", *(f"  {line}" for line in lines)])


def report_text(report: BuildReport) -> str:
    """Return a report about tools, as text for an issue."""
    facts: dict[str, object] = {
        "actiondbg": report.actiondbg,
        "python": report.python,
        "kernel": f"{report.kernel}, {report.machine}, {counted(report.cpus, 'processor')}",
        "libc": report.libc,
        **report.variables,
    }
    parts = ["\n".join(rows(facts)), *map(_reported, report.tools)]
    return without_homes("\n\n".join(parts) + "\n")


def _reported(found: Examined) -> str:
    """Return what was found out about a tool, with what the agent knew in the trial."""
    facts = found.facts
    if isinstance(facts, msgspec.UnsetType):
        return examined_text(found)
    lines = ["", "Layouts:"]
    for check in facts.checks:
        lines.append(f"  {check.name}: {'proved' if check.passed else check.why or 'not proved'}")
    lines.append(f"  {', '.join(f'{name} {value}' for name, value in facts.offsets.items())}")
    if not facts.checks:
        lines = ["", "Layouts: not learned."]
    states: dict[str, list[str]] = {}
    for function in facts.functions:
        states.setdefault(function.state, []).append(function.symbol)
    for state, symbols in sorted(states.items(), key=lambda item: item[0] == "called"):
        lines += ["", f"Functions, {state}:", *(f"  {symbol}" for symbol in sorted(symbols))]
    return "\n".join([examined_text(found), *lines])


def _verdict(found: Examined) -> str:
    if found.problem is not None:
        return found.problem
    if found.capabilities is None:
        return "it can be debugged, as far as its file tells; a trial tells the rest."
    if found.missing:
        return (
            f"it can be debugged; the agent lacks {len(found.missing)} of "
            f"{len(found.missing) + len(found.capabilities)} capabilities."
        )
    return "it can be debugged, with all capabilities."
