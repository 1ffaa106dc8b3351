"""The text of an examined tool."""

from __future__ import annotations

from actiondbg.commands.render.units import rows
from actiondbg.doctor.examination import Examined


def examined_text(found: Examined) -> str:
    """Return what was found out about a tool, its verdict first."""
    facts: dict[str, object] = {
        "program": found.program,
        "mlir": found.object,
        "build": found.build,
        "llvm": found.llvm or "unknown",
        "compiler": ", ".join(found.compilers) or None,
        "symbols": found.symbols,
        "headers": ":".join(map(str, found.headers)) or None,
        "agent": f"{found.way}, {found.agent}" if found.way else None,
        "limit": found.limit,
        "capabilities": _listed(found.capabilities),
    }
    lines = rows(facts)
    for names, why in _grouped(found.missing):
        lines.append(f"no {', '.join(names)}: {why}")
    return "\n".join([f"{found.name}: {_verdict(found)}", *(f"  {line}" for line in lines)])


def _verdict(found: Examined) -> str:
    if found.problem is not None:
        return found.problem
    if found.capabilities is None:
        return f"the {found.way} agent would be used."
    if found.missing:
        return (
            f"it can be debugged by the {found.way} agent, which lacks {len(found.missing)} of "
            f"{len(found.missing) + len(found.capabilities)} capabilities."
        )
    return f"it can be debugged by the {found.way} agent, with all capabilities."


def _listed(names: list[str] | None) -> str | None:
    return ", ".join(names) or "none" if names is not None else None


def _grouped(missing: dict[str, str]) -> list[tuple[list[str], str]]:
    """Return reasons with the names of the capabilities that are missing for them."""
    grouped: dict[str, list[str]] = {}
    for name, why in missing.items():
        grouped.setdefault(why, []).append(name)
    return [(names, why) for why, names in grouped.items()]
