"""The content of a report, independent of its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actiondbg.analysis.textual_pipelines import normalize_pipeline
from actiondbg.bisection.crash import cause_of, place_of
from actiondbg.bisection.folder import FolderFile
from actiondbg.bisection.reproducer.reproducer import Reproducer
from actiondbg.bisection.reproducer.run import StepResult
from actiondbg.bisection.reproducer.strategies import command_text
from actiondbg.bisection.result import Culprit, Entry, Result, listed
from actiondbg.protocol.tags import CONVERSION_TAG, FOLD_TAG, PASS_TAG, PATTERN_TAG, STEP_TAG
from actiondbg.support.counts import counted
from actiondbg.support.interrupts import signal_name
from actiondbg.support.source_file import known_place
from actiondbg.version import VERSION

_PLEA = "PLEASE submit a bug report to"
_LARGEST = 1 << 17  # characters of a file of IR that a report includes
_MOST = 20  # entries of a set that are listed

_KINDS = {
    PATTERN_TAG: "pattern",
    FOLD_TAG: "fold of",
    PASS_TAG: "pass",
    CONVERSION_TAG: "conversion",
    STEP_TAG: "schedule's operation",
}
_MODES = {
    "first": "the first action whose application turns the output from good to bad",
    "minimize": "the smallest set of applied actions that is bad",
    "skip": "the smallest set of skipped actions that makes the output good",
}

_BREAKS = "the action that leaves IR that is not valid, in which the tool crashes later"


@dataclass(frozen=True)
class ToolFacts:
    """The identity of the tool.

    Args:
        build_id: of its libMLIR.
        assertions: whether it was built with assertions; None if not known.
    """

    name: str
    llvm: str
    build_id: str
    assertions: bool | None


@dataclass(frozen=True)
class Text:
    """A file of IR in the folder.

    Args:
        name: of the file.
        title: describes the IR.
        text: the first characters.
        is_cut: whether ``text`` is only the first part.
        generic: whether the IR is in generic form, because it is invalid.
    """

    name: str
    title: str
    text: str
    is_cut: bool
    generic: bool


@dataclass(frozen=True)
class Report:
    """The facts of a report.

    Args:
        reproducer: with the names of all files in the folder.
        tool: the stock tool.
        oracle: as an option of the command line.
        symptom: what is wrong in a bad run: "crash".
        texts: the IR.
    """

    reproducer: Reproducer
    tool: ToolFacts
    oracle: str
    symptom: str
    texts: Sequence[Text]

    @property
    def culprit(self) -> Culprit:
        """The culprit."""
        culprit = self.reproducer.result.culprit
        assert culprit is not None
        return culprit


Fact = tuple[str, str, bool]  # title, value, whether the value is code


def title(report: Report) -> tuple[str, str, str]:
    """Return the title: text, the culprit's name, and the pass that it is in, maybe empty."""
    culprit = report.culprit
    kind = _KINDS.get(culprit.tag, culprit.tag)
    if not culprit.name:
        kind, name = f"unnamed {kind} on", culprit.op or "an operation"
    else:
        name = culprit.name
    inside = culprit.pass_name if culprit.pass_name and culprit.tag != PASS_TAG else None
    return f"{report.tool.name}: {report.symptom} by the {kind}", name, inside or ""


def action_facts(report: Report) -> list[Fact]:
    """Return the facts of the culprit."""
    culprit = report.culprit
    found: list[tuple[str, str | None, bool]] = [
        ("Action", culprit.tag, True),
        ("Name", culprit.name or "(it has none)", bool(culprit.name)),
        ("Operation", culprit.op, True),
        ("Source location", known_place(culprit.location), True),
        ("Function", culprit.function, True),
        ("Ordinal", f"#{culprit.ordinal}{_ordinal_in_run(culprit)}", False),
        (
            f"Number among the {culprit.tag} actions",
            str(culprit.nth) if culprit.nth else None,
            False,
        ),
        ("Outcome", _outcome(culprit), False),
        ("Pass", culprit.pass_name, True),
        (
            "Pipeline of that pass",
            culprit.pass_pipeline and normalize_pipeline(culprit.pass_pipeline),
            True,
        ),
    ]
    return [(what, value, code) for what, value, code in found if value]


def tool_facts(report: Report) -> list[Fact]:
    """Return the facts of the tool and of its command line."""
    tool = report.tool
    assertions = {True: "on", False: "off", None: "not known"}[tool.assertions]
    return [
        ("Tool", tool.name, True),
        ("LLVM", tool.llvm, False),
        ("Assertions", assertions, False),
        ("Build id", tool.build_id, True),
        ("Command line", report.reproducer.command, True),
        ("Found with", f"actiondbg {VERSION}: {report.oracle}", True),
    ]


def verdicts(report: Report) -> list[tuple[str, str]]:
    """Return the runs that the bisection judged, and their verdicts."""
    result = report.reproducer.result
    sets = {
        "first": [
            ("all candidates applied", "bad"),
            ("no candidate applied", "good"),
            ("all up to the culprit applied", "bad"),
            ("all before the culprit applied, and no other", "good"),
        ],
        "minimize": [
            ("all candidates applied", "bad"),
            (f"only {_count(result.applied)} applied", "bad"),
            ("any one of these left out too", "not bad"),
        ],
        "skip": [
            ("all candidates applied", "bad"),
            (f"only {_count(result.skips)} skipped", "good"),
            ("any one of these applied too", "not good"),
        ],
    }
    rows = sets[result.mode] if result.is_minimal else sets[result.mode][:-1]
    if result.broken is not None:
        rows = [*rows[:2], ("the IR after the culprit", f"not valid: {result.broken}")]
    if result.confirmed is not None:
        rows.append(("only the culprit skipped", result.confirmed))
    return rows


def summary(report: Report) -> str:
    """Return a summary of the search."""
    result = report.reproducer.result
    candidates = counted(result.candidates, "candidate")
    trials = counted(result.trials, "trial")
    what = _BREAKS if result.broken is not None else _sized(_MODES[result.mode], result)
    found = f"It is {what}; it was found among {candidates} by {trials}."
    return f"{found} Good is: {report.reproducer.good}."


def other_entries(report: Report) -> tuple[str, list[str]]:
    """Return the set that minimize or skip found: its title, and a line for each action."""
    result = report.reproducer.result
    if result.mode == "first":
        return "", []
    entries = result.applied if result.mode == "minimize" else result.skips
    what = "applied actions that is bad" if result.mode == "minimize" else "skips that is good"
    return _sized(f"The smallest set of {what}", result), listed(entries, _MOST)


def _sized(text: str, result: Result) -> str:
    """Return a text about the smallest set; it says so if a smaller one may exist."""
    if result.is_minimal:
        return text
    return text.replace("the smallest set", "a set").replace("The smallest set", "A set")


def notes(report: Report) -> list[str]:
    """Return the notes, one sentence each."""
    result = report.reproducer.result
    narrowed = [
        ("These passes had to run; nothing in them was a candidate", result.held),
        ("These passes were candidates as a whole only", result.units),
        ("Names that were never candidates", result.always),
    ]
    restrictions = [f"{what}: {', '.join(names)}." for what, names in narrowed if names]
    return list(dict.fromkeys([*report.reproducer.notes, *result.notes, *restrictions]))


def stack_lines(report: Report) -> list[str]:
    """Return the action stack, innermost first."""
    lines: list[str] = []
    for frame in report.culprit.stack:
        named = " ".join(word for word in (frame.tag, frame.name) if word)
        about = f" on {frame.op}" if frame.op else ""
        place = f" at {known_place(frame.location)}" if known_place(frame.location) else ""
        inside = f" in @{frame.function.removeprefix('@')}" if frame.function else ""
        lines.append(f"#{frame.ordinal} {named}{about}{place}{inside}")
    return lines


def crash(report: Report) -> tuple[str, list[str]]:
    """Return how the stock tool died in the first step: a sentence, and the stack trace."""
    died = [each for each in report.reproducer.steps if each.signal and each.verdict == "bad"]
    if not died or report.symptom != "crash":
        return "", []
    first = died[0]
    lines = first.errors.rstrip().splitlines()
    cause = cause_of(signal_name(first.signal), lines)
    why = f"{cause.what and ': '}{cause.what}{place_of(cause)}"
    sentence = f"The tool died of {cause.signal} with {first.step.title}{why}."
    return sentence, [line for line in lines if not line.startswith(_PLEA)]


def commands(report: Report) -> list[tuple[StepResult, str]]:
    """Return each step of the reproducer with its command line."""
    return [(each, _command(each, report.tool.name)) for each in report.reproducer.steps]


def script_does(report: Report) -> str:
    """Return the end of the sentence "repro.sh ..."."""
    if report.reproducer.needs_actiondbg:
        return "shows it, and needs actiondbg"
    return f"{'shows it with' if report.reproducer.verified else 'runs'} the stock tool alone"


def reproducer_status(report: Report) -> str:
    """Return one sentence about the run of the reproducer."""
    steps = report.reproducer.steps
    missed = sum(not each.confirmed for each in steps)
    if report.reproducer.is_confirmed:
        who = f" of {report.oracle}, which judges there and not in the script,"
        who = "" if report.reproducer.judges else who
        return f"When it was run, all {len(steps)} verdicts{who} were as expected."
    if missed:
        return f"When it was run, {missed} of {len(steps)} verdicts were not as expected."
    return "It was run, and does not show good and bad: see the notes."


def read_text(folder: Path, name: str, title: str, generic: bool) -> Text | None:
    """Read a file of IR for the report; None if it does not exist."""
    try:
        with (folder / name).open(encoding="utf-8", errors="replace") as file:
            text = file.read(_LARGEST)
            return Text(name, title, text, bool(file.read(1)), generic)
    except OSError:
        return None


def _command(each: StepResult, tool: str) -> str:
    line = command_text(each.step.args, tool)
    if each.step.skips:
        line = f"actiondbg --batch --skips {FolderFile.SKIPS} -ex run -- {line}"
    return f"{line} < {each.step.piped}" if each.step.piped else line


def _ordinal_in_run(culprit: Culprit) -> str:
    inner = culprit.stack[0].ordinal if culprit.stack else culprit.ordinal
    if inner == culprit.ordinal:
        return ""
    return f", of the run with all applied; #{inner} of the run that showed it"


def _count(entries: Sequence[Entry]) -> str:
    names = [f"#{entry.ordinal}" for entry in entries[:_MOST]]
    if len(entries) > _MOST:
        names.append(f"{len(entries) - _MOST} more")
    return ", ".join(names)


def _outcome(culprit: Culprit) -> str | None:
    outcome = culprit.outcome
    if outcome is None:
        return None
    words = [outcome.result, f"({outcome.how})" if outcome.how else ""]
    values = f"with {', '.join(outcome.values)}" if outcome.values else ""
    return " ".join(word for word in (*words, values) if word)
