"""Why a conversion failed, or left operations, as an HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from actiondbg.analysis.legalization.explanation import Cause, cause_of, short_name
from actiondbg.commands.render.legalization.explanation_text import (
    beside_words,
    conversion_words,
    failed_type,
    headline,
    legality_words,
    result_words,
    said,
    type_reasons,
    untold_words,
    untried_words,
)
from actiondbg.commands.render.units import operation
from actiondbg.ir.html import highlighted, token_colors
from actiondbg.support.html_page import Html, element, html, html_page, joined, pre
from actiondbg.support.source_file import known_place

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
summary b { font-weight: 600; }
"""


def explanation_page(found: Explanation) -> str:
    """Return the page; what leads to what is missing is open, the rest folded."""
    if found.target is None:
        title, body = headline(found), _failure(found)
    else:
        title, body = f"Why conversions left {found.target}", _left(found)
    style = f"{_STYLE}\n{token_colors()}"
    return html_page(title, element("h1", title), body, style=style, maker="explain")


def _failure(found: Explanation) -> Html:
    conversion, cause = found.failed, found.cause
    if conversion is None or cause is None:
        casts = [] if found.casts is None else [_left(found.casts)]
        return joined(_groups(found), *casts)
    parts = [element("p", f"in {conversion_words(conversion)}")]
    if conversion.legalizations:
        parts.append(_tree(conversion.legalizations[-1:], conversion, cause))
    if found.blockers:
        parts.append(element("h2", "Left around it as well"))
        parts += [_tree([each], conversion, cause_of(each)) for each in found.blockers]
    if found.needed_by is not None:
        parts.append(_groups(found.needed_by))
    if conversion.errors:
        parts.append(element("h2", "Reported errors"))
        lines = [error.text for error in conversion.errors]
        lines += [note.text for error in conversion.errors for note in error.notes]
        parts.append(pre(lines))
    return joined(*parts)


def _groups(found: Explanation) -> Html:
    parts: list[Html] = []
    for group in found.groups():
        what = f"{group.count:,} x {group.first.op}"
        parts.append(element("h2", f"{what}: {conversion_words(group.conversion)}"))
        parts.append(element("p", group.cause.text))
        parts.append(_tree([group.first], group.conversion, group.cause))
    return joined(*parts)


def _left(found: Explanation) -> Html:
    parts: list[Html] = []
    for beside in found.beside:
        parts += [element("p", beside_words(beside)), _groups(beside.why)]
    parts.append(_groups(found))
    for conversion, left in found.left_now():
        words = f"{left.count:,} x {left.name}: {conversion_words(conversion)}"
        parts.append(element("h2", words))
        parts.append(element("p", untried_words(conversion, left)))
    parts += [element("p", line) for line in untold_words(found)]
    return joined(*parts) or element("p", "No dialect conversion left such operations.")


def _tree(trees: Sequence[Legalization], conversion: Conversion, cause: Cause) -> Html:
    telling = [id(step.tried) for step in cause.way if step.tried is not None]
    return _list(_legalization(each, bool(conversion.full), telling) for each in trees)


def _list(items: Iterable[Html]) -> Html:
    body = joined(*items)
    return element("ul", body) if body else body


def _legalization(one: Legalization, is_full: bool, telling: Sequence[int]) -> Html:
    location = known_place(one.location)
    place = html(" ", element("span", location, kind="quiet")) if location else ""
    legality = f", {legality_words(one, is_full)}" if one.legality is not None else ""
    items = [element("li", line) for line in said(one.said)]
    items += [_failed_type(each) for each in one.types]
    for left_out in one.left_out:
        names = ", ".join(each.name for each in left_out.generates) or "nothing"
        text = f"{short_name(left_out.name)}: left out, as it generates {names}"
        items.append(element("li", text, kind="failed"))
    if not one.tried and not one.left_out and not one.legalized:
        items.append(element("li", f"no pattern for {one.op}", kind="failed"))
    items += [_tried(each, is_full, telling) for each in one.tried]
    items += [element("li", f"needed by {operation(user.id, user.name)}") for user in one.users]
    return element(
        "li",
        element("b", operation(one.id, one.op)),
        place,
        legality,
        element("pre", highlighted(one.text), kind="hl") if one.text else "",
        _list(items),
        kind="succeeded" if one.legalized else "failed",
    )


def _failed_type(failed: TypeFailed) -> Html:
    reasons = (element("li", line) for line in type_reasons(failed))
    return element("li", failed_type(failed), _list(reasons))


def _tried(tried: TriedPattern, is_full: bool, telling: Sequence[int]) -> Html:
    number = f" #{tried.ordinal}" if tried.ordinal is not None else ""
    head = html(element("b", short_name(tried.name)), f"{number}: {result_words(tried)}")
    items = [_failed_type(each) for each in tried.types]
    items += [element("li", each) for each in tried.reasons]
    items += [_legalization(each, is_full, telling) for each in tried.generated]
    mark = "succeeded" if tried.result == "succeeded" else "failed"
    if not items:
        return element("li", head, kind=mark)
    is_open = " open" if id(tried) in telling else ""
    inside = html(element("summary", head), _list(items))
    return element("li", Html(f"<details{is_open}>{inside}</details>"), kind=mark)
