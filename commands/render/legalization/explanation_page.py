"""Why a conversion failed, or left operations, as an HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from actiondbg.analysis.legalization.cause import Cause, cause_of, short_name
from actiondbg.commands.render.legalization.text import (
    conversion_words,
    failed_type,
    headline,
    legality_words,
    result_words,
    type_reasons,
)
from actiondbg.commands.render.units import operation
from actiondbg.ir.html import highlighted, token_colors
from actiondbg.support.html_page import html_page

if TYPE_CHECKING:
    from actiondbg.analysis.legalization.explanation import Explanation
    from actiondbg.analysis.legalization.tree import Conversion, Legalization, TriedPattern
    from actiondbg.protocol.legalizations import TypeFailed

_STYLE = """\
ul { list-style: none; padding-left: 1.4rem; } li { margin: .2rem 0; }
li::before { float: left; margin-left: -1.2rem; font-weight: 600; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
li.failed::before { content: "\\2717"; color: var(--bad); }
li.succeeded::before { content: "\\2713"; color: var(--good); }
summary b { font-weight: 600; } .quiet { color: var(--quiet); }
"""


def explanation_page(found: Explanation) -> str:
    """Return the page; what leads to what is missing is open, the rest folded."""
    if found.target is None:
        title, body = headline(found), _failure(found)
    else:
        title, body = f"Why conversions left {found.target}", _left(found)
    heading = f"<h1>{escape(title)}</h1>"
    return html_page(title, f"{_STYLE}\n{token_colors()}", f"{heading}\n{body}")


def _failure(found: Explanation) -> str:
    conversion, cause = found.failed, found.cause
    if conversion is None or cause is None:
        return ""
    parts = [f"<p>in {escape(conversion_words(conversion))}</p>"]
    if conversion.legalizations:
        parts.append(_tree(conversion.legalizations[-1:], conversion, cause))
    if found.blockers:
        parts.append("<h2>Left around it as well</h2>")
        parts += [_tree([each], conversion, cause_of(each)) for each in found.blockers]
    if conversion.errors:
        parts.append("<h2>Reported errors</h2>")
        lines = [error.text for error in conversion.errors]
        lines += [note.text for error in conversion.errors for note in error.notes]
        parts.append(f"<pre>{escape(chr(10).join(lines))}</pre>")
    return "\n".join(parts)


def _left(found: Explanation) -> str:
    parts: list[str] = []
    for group in found.groups():
        what = f"{group.count:,} x {group.first.op}"
        parts.append(f"<h2>{escape(what)}: {escape(conversion_words(group.conversion))}</h2>")
        parts.append(f"<p>{escape(group.cause.text)}</p>")
        parts.append(_tree([group.first], group.conversion, group.cause))
    for conversion, left in found.never_tried():
        words = f"{left.count:,} x {left.name}: {conversion_words(conversion)}"
        parts.append(f"<h2>{escape(words)}</h2>\n<p>{left.legality}; no pattern was tried</p>")
    return "\n".join(parts) or "<p>No dialect conversion had such operations to legalize.</p>"


def _tree(trees: Sequence[Legalization], conversion: Conversion, cause: Cause) -> str:
    telling = [id(step.tried) for step in cause.way if step.tried is not None]
    return _list(_legalization(each, bool(conversion.full), telling) for each in trees)


def _list(items: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(items) + "\n</ul>"


def _legalization(one: Legalization, is_full: bool, telling: Sequence[int]) -> str:
    mark = "succeeded" if one.legalized else "failed"
    place = f' <span class="quiet">{escape(one.location)}</span>' if one.location else ""
    head = f"<b>{escape(operation(one.id, one.op))}</b>{place}"
    if one.legality is not None:
        head += f", {escape(legality_words(one, is_full))}"
    items = [_failed_type(each) for each in one.types]
    for left_out in one.left_out:
        names = ", ".join(each.name for each in left_out.generates) or "nothing"
        text = f"{short_name(left_out.name)}: left out, as it generates {names}"
        items.append(f'<li class="failed">{escape(text)}</li>')
    if not one.tried and not one.left_out and not one.legalized:
        items.append(f'<li class="failed">no pattern for {escape(one.op)}</li>')
    items += [_tried(each, is_full, telling) for each in one.tried]
    for user in one.users:
        items.append(f"<li>needed by {escape(operation(user.id, user.name))}</li>")
    ir = f'<pre class="hl">{highlighted(one.text)}</pre>' if one.text else ""
    return f'<li class="{mark}">{head}{ir}{_list(items) if items else ""}</li>'


def _failed_type(failed: TypeFailed) -> str:
    reasons = "".join(f"<li>{escape(line)}</li>" for line in type_reasons(failed))
    inner = _list([reasons]) if reasons else ""
    return f"<li>{escape(failed_type(failed))}{inner}</li>"


def _tried(tried: TriedPattern, is_full: bool, telling: Sequence[int]) -> str:
    number = f" #{tried.ordinal}" if tried.ordinal is not None else ""
    head = f"<b>{escape(short_name(tried.name))}</b>{number}: {escape(result_words(tried))}"
    items = [_failed_type(each) for each in tried.types]
    items += [f"<li>{escape(each)}</li>" for each in tried.reasons]
    items += [_legalization(each, is_full, telling) for each in tried.generated]
    mark = "succeeded" if tried.result == "succeeded" else "failed"
    if not items:
        return f'<li class="{mark}">{head}</li>'
    is_open = " open" if id(tried) in telling else ""
    return (
        f'<li class="{mark}"><details{is_open}><summary>{head}</summary>'
        f"{_list(items)}</details></li>"
    )
