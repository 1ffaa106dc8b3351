"""report.md: the report as Markdown, to paste into an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from actiondbg.bisection.report import content
from actiondbg.bisection.report.content import Report
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.support.counts import counted
from actiondbg.support.source_file import known_place

_MOST_LINES = 300  # of the diff
_MOST_CHARACTERS = 50_000  # of the diff; an issue has at most 65,536
_SHORT = 4_000  # characters of a file that is included
_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&]")
# GitHub would make links to issues and people of these.
_LINK = re.compile(r"[#@](?=\w)[\w.$-]*\w")


def markdown_report(report: Report) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    words, name, inside = content.title(report)
    parts = [
        f"# {escape(words)} {code(name)}{f' in {code(inside)}' if inside else ''}",
        f"{_blame(report)} {escape(content.summary(report))}",
        *([escape(report.reproducer.result.message)] if report.reproducer.result.message else []),
        "## The action",
        _table(content.action_facts(report)),
        *_listed(*content.other_entries(report)),
        *_listed("The action stack, innermost first", content.stack_lines(report)),
        *_crash(report),
        "## Changes of the IR",
        *_diff(report),
        "## The verdicts of the bisection",
        _rows(
            ("run", "verdict"),
            [(escape(run), verdict) for run, verdict in content.verdicts(report)],
        ),
        "## How to reproduce",
        *_reproduce(report),
        "## The tool",
        _table(content.tool_facts(report)),
        *_bullets("Notes", content.notes(report)),
        *_bullets("Files", [f"{name}: {what}" for name, what in report.reproducer.files]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escape(text: str) -> str:
    """Escape text for Markdown, on one line."""
    text = " ".join(text.split())
    parts: list[str] = []
    end = 0
    for match in _LINK.finditer(text):
        parts += [_plain(text[end : match.start()]), code(match.group())]
        end = match.end()
    return "".join([*parts, _plain(text[end:])])


def _plain(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"\\{match.group()}", text)


def code(text: str) -> str:
    """Return text as inline code; it may contain backticks."""
    text = " ".join(text.split()) or " "
    fence = "`" * (_longest(text) + 1)
    blank = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def block(text: str, language: str = "") -> str:
    """Return text as a fenced block; it may contain fences."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _longest(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _blame(report: Report) -> str:
    culprit = report.culprit
    about = f" on {code(culprit.op)}" if culprit.op and culprit.op != culprit.name else ""
    location = known_place(culprit.location)
    place = f" at {code(location)}" if location else ""
    name = code(culprit.name) if culprit.name else "without a name"
    inside = ""
    if culprit.pass_name and culprit.tag != PASS_TAG:
        inside = f", in the pass {code(culprit.pass_name)}"
    what = f"{code(f'#{culprit.ordinal}')}, {code(culprit.tag)} {name}"
    return f"The culprit is {what}{about}{place}{inside}."


def _cell(value: str, is_code: bool) -> str:
    # A bar ends a cell, even inside code.
    return code(value).replace("|", "\\|") if is_code else escape(value)


def _table(facts: Sequence[content.Fact]) -> str:
    return _rows(
        ("", ""), [(escape(what), _cell(value, is_code)) for what, value, is_code in facts]
    )


def _rows(head: tuple[str, ...], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    return [f"{escape(title)}:", block("\n".join(lines))] if lines else []


def _bullets(title: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    return [f"## {title}", "\n".join(f"- {escape(line)}" for line in lines)]


def _crash(report: Report) -> list[str]:
    sentence, lines = content.crash(report)
    if not sentence:
        return []
    return ["## The crash", escape(sentence), block("\n".join(lines)) if lines else ""]


def _diff(report: Report) -> list[str]:
    diff = report.culprit.diff
    if diff is None:
        return ["The IR before and after it could not be compared: see the notes."]
    if diff.is_empty:
        return ["It made no difference to the printed IR."]
    lines = diff.unified()
    taken = list[str]()
    room = _MOST_CHARACTERS
    for line in lines[:_MOST_LINES]:
        room -= len(line) + 1
        if room < 0:
            break
        taken.append(line)
    found = [block("\n".join(taken), "diff")]
    if len(taken) < len(lines):
        found.append(
            f"{counted(len(lines) - len(taken), 'more line')} "
            f"{'is' if len(lines) - len(taken) == 1 else 'are'} left out here: see `report.html`, "
            "or "
            "compare `before.mlir` with `after.mlir`."
        )
    return found


def _reproduce(report: Report) -> list[str]:
    does = content.script_does(report)
    rows = [
        (str(number), each.step.expected, each.verdict, escape(each.step.title))
        for number, each in enumerate(report.reproducer.steps, 1)
    ]
    lines = [
        f"# {number}. {each.step.title}\n{line}"
        for number, (each, line) in enumerate(content.commands(report), 1)
    ]
    return [
        f"{escape(report.reproducer.strategy)} {code('repro.sh')} {does}. "
        f"{escape(content.reproducer_status(report))}",
        _rows(("", "expected", "judged", "run"), rows) if rows else "",
        block("\n".join(lines), "sh") if lines else "",
        *_input(report),
    ]


def _input(report: Report) -> list[str]:
    """Return the files that the commands need, if they are short enough for an issue."""
    found: list[str] = []
    for text in report.texts:
        used = any(
            text.name in each.step.args or each.step.piped == text.name
            for each in report.reproducer.steps
        )
        if used and not text.is_cut and len(text.text) <= _SHORT:
            found += [
                f"{code(text.name)}, {escape(text.title)}:",
                block(text.text, "mlir" if text.name.endswith(".mlir") else ""),
            ]
    return found
