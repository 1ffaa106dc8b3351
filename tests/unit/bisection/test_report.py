"""Reports of a bisection: escaped, whole, and in a folder that comes as a whole."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from actiondbg.bisection.report.content import Report, Text, ToolFacts
from actiondbg.bisection.report.html import html_report
from actiondbg.bisection.report.markdown import block, code, escape, markdown_report
from actiondbg.bisection.reproducer.reproducer import Reproducer
from actiondbg.bisection.reproducer.run import StepResult
from actiondbg.bisection.reproducer.scripts import ScriptStep, session_script
from actiondbg.bisection.result import Culprit, Entry, Result
from actiondbg.bisection.verdict import Mode
from actiondbg.errors import FileNotWritten
from actiondbg.ir.diff import Diff
from actiondbg.protocol import Frame, Outcome
from actiondbg.support.atomic_write import replaced_directory

# --- reports ------------------------------------------------------------------------------------

NASTY = '</pre><script>alert("x")</script> `tick` ``` | *bold* <b> & #12 @who'


def report(**changes: object) -> Report:
    frame = Frame(
        index=0,
        ordinal=17,
        tag="apply-pattern",
        name=NASTY,
        depth=2,
        op="test.op",
        location="in.mlir:3:4",
        function="@main",
        units=[],
    )
    text = f'func.func @f() {{\n  "a.b"() {{x = "{NASTY}"}}\n  return\n}}\n'
    diff = Diff(text, text.replace("return", f'"c.d"() // {NASTY}'), 17)
    entry = Entry(
        ordinal=17,
        tag="apply-pattern",
        name=NASTY,
        nth=1,
        location="in.mlir:3:4",
        function="main",
        op="test.op",
    )
    culprit = Culprit(
        entry=entry,
        stack=[frame],
        pass_name="canonicalize",
        pass_pipeline="builtin.module(canonicalize)",
        pass_ordinal=1,
        outcome=Outcome(result="succeeded"),
        diff=diff,
    )
    result = Result(
        verdict="found",
        message=f"Found: {NASTY}.",
        culprit=culprit,
        trials=9,
        candidates=1234,
        confirmed="good",
        applied=[entry],
        notes=[NASTY],
    )
    steps = [
        StepResult(ScriptStep("bad", "the first", ["-n", "bad"]), "bad"),
        StepResult(ScriptStep("good", NASTY, [NASTY], piped="in"), "untestable"),
    ]
    reproducer = Reproducer(
        result=result,
        command=f"mlir-opt input.mlir --x='{NASTY}'",
        good=NASTY,
        strategy=f"It shows {NASTY}.",
        steps=steps,
        is_confirmed=False,
        judges=True,
        notes=[NASTY],
        files=[("before.mlir", NASTY)],
        ir={"before.mlir": NASTY},
        generic=frozenset({"before.mlir"}),
        judged=9,
    )
    return Report(
        reproducer=replace(reproducer, **changes),  # type: ignore[arg-type]
        tool=ToolFacts("mlir-opt", "22.1.8", "abc", True),
        oracle=f"--test '{NASTY}'",
        symptom="wrong output",
        texts=[Text("before.mlir", "the IR", text, False, True)],
    )


class Page(HTMLParser):
    """Checks that what is opened is closed, and collects the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag == "td" and self.stack[-1] == "td":
            self.stack.pop()  # its end may be left out
        if tag not in ("meta", "input", "br"):
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_page_is_complete_and_needs_no_other_file() -> None:
    text = html_report(report())
    page = Page(text)
    assert page.stack == []
    assert not {"script", "link", "img", "iframe"} & page.tags
    assert not {name for name, _ in page.attributes} & {"src", "href", "onload", "onclick"}
    assert "url(" not in text and "@import" not in text and "://" not in text
    shown_text = "".join(page.texts)
    # The title, the message, the facts, the stack, the diff (twice), the steps, the IR, the notes.
    assert shown_text.count('<script>alert("x")</script>') >= 10
    assert "before.mlir, the IR" in shown_text and "generic form" in shown_text
    assert "prefers-color-scheme: dark" in text


def test_page_colours_ir_and_marks_changes() -> None:
    diff = Diff("%0 = arith.addi %a, %b : i32\n", "%0 = arith.muli %a, %b : i32\n", 1)
    base = report()
    culprit = base.culprit
    culprit = msgspec.structs.replace(culprit, diff=diff)
    text = html_report(
        report(result=msgspec.structs.replace(base.reproducer.result, culprit=culprit))
    )
    classes = {value for name, value in Page(text).attributes if name == "class"}
    assert {"old", "new", "nv", "k", "kt", "diff side hl", "diff unified hl"} <= classes
    assert '<mark><span class="k">arith.addi</span></mark>' in text
    assert '<mark><span class="k">arith.muli</span></mark>' in text
    assert '<mark><span class="nv">%a' not in text


@pytest.mark.parametrize("text", ["a", "`", "``a`", "a``b", "```", "x`y", " "])
def test_code_in_markdown_holds_any_backticks(text: str) -> None:
    written = code(text)
    match = re.fullmatch(r"(`+)( ?)(.*?)\2\1", written)
    assert match is not None and match[1] not in re.findall("`+", match[3])
    fenced = block(f"a\n{text}\nb")
    assert fenced.splitlines()[0] not in fenced.splitlines()[1:-1]


def test_markdown_is_shown_as_it_is() -> None:
    assert escape("a_b *c* <d> [e](f) | `g`") == r"a\_b \*c\* \<d\> \[e\](f) \| \`g\`"
    # Else they would become links to an issue and to a person.
    assert escape("see #12 of @who.") == "see `#12` of `@who`."


def test_report_has_all_facts() -> None:
    text = markdown_report(report())
    head = text.splitlines()[0]
    assert head.startswith("# mlir-opt: wrong output by the pattern ````")
    for part in (
        "LLVM | 22.1.8",
        "Assertions | on",
        "| `in.mlir:3:4` |",
        "1,234 candidates by 9 trials",
        "`builtin.module(canonicalize)`",
        "| only the culprit skipped | good |",
        "1 of 2 verdicts were not as expected",
        '+  "c.d"()',
        "-  return",
    ):
        assert part in text, part
    fences = [line for line in text.splitlines() if re.match("`{3,}", line)]
    assert len(fences) % 2 == 0
    assert max(len(line) for line in fences if line.strip("`")) > len("```diff")


def test_a_long_diff_is_cut_in_the_report() -> None:
    before = "".join(f"line {n}\n" for n in range(20_000))
    base = report()
    culprit = msgspec.structs.replace(base.culprit, diff=Diff(before, before.replace("line", "x")))
    text = markdown_report(
        report(result=msgspec.structs.replace(base.reproducer.result, culprit=culprit))
    )
    assert len(text) < 65_536 and "more lines are left out" in text


def test_session_script_reaches_each_action() -> None:
    base = report().reproducer.result
    first = session_script(base, "actiondbg -x session.adb x").splitlines()
    assert "break #17" in first and first[-4:] == ["backtrace", "print", "next", "diff"]
    other = msgspec.structs.replace(base.applied[0], ordinal=20, tag="fold")
    two = msgspec.structs.replace(base, mode="minimize", applied=[base.applied[0], other])
    lines = session_script(two, "x").splitlines()
    assert [line for line in lines if line.startswith(("break", "run", "cont"))] == [
        "break #17",
        "break #17 --after",
        "break #20",
        "break #20 --after",
        "run",
        "continue",
        "continue",
        "continue",
    ]


# --- the folder ---------------------------------------------------------------------------------


def test_folder_appears_complete(tmp_path: Path) -> None:
    place = tmp_path / "deep/out"
    for content in ("one", "two"):  # the second replaces the first
        with replaced_directory(place, "mark") as making:
            (making / "mark").write_text(content)
        assert [one.name for one in (tmp_path / "deep").iterdir()] == ["out"]
        assert (place / "mark").read_text() == content
    with pytest.raises(KeyboardInterrupt), replaced_directory(place, "mark") as making:
        (making / "mark").write_text("three")
        raise KeyboardInterrupt
    assert [one.name for one in (tmp_path / "deep").iterdir()] == ["out"]
    assert (place / "mark").read_text() == "two"
    assert place.stat().st_mode & 0o777 == (tmp_path / "deep").stat().st_mode & 0o777


def test_folder_of_another_program_is_kept(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis").write_text("x")
    (tmp_path / "file").write_text("x")
    for name in ("mine", "file"):
        with (
            pytest.raises(FileNotWritten, match="name another"),
            replaced_directory(tmp_path / name, "mark"),
        ):
            pytest.fail("It was made.")
    assert (tmp_path / "mine/thesis").read_text() == "x"
    (tmp_path / "empty").mkdir()
    with replaced_directory(tmp_path / "empty", "mark") as making:
        (making / "mark").write_text("x")
    assert (tmp_path / "empty/mark").exists()


@pytest.mark.parametrize("mode", ["minimize", "skip"])
def test_a_set_that_may_not_be_the_smallest_is_not_called_so(mode: Mode) -> None:
    base = msgspec.structs.replace(
        report().reproducer.result,
        mode=mode,
        confirmed=None,
        skips=report().reproducer.result.applied,
    )
    for is_minimal in (True, False):
        found = report(result=msgspec.structs.replace(base, is_minimal=is_minimal))
        for text in (markdown_report(found), html_report(found)):
            assert ("smallest set" in text.lower()) == is_minimal
            assert ("any one of these" in text) == is_minimal


def test_a_reproducer_that_needs_actiondbg_is_not_of_the_stock_tool_alone() -> None:
    bad = ScriptStep("bad", "as it is", ["in.mlir"])
    good = ScriptStep("good", "with skips", ["in.mlir"], skips=True)
    assert bad.key != good.key
    steps = [StepResult(bad, "bad"), StepResult(good, "good")]
    text = markdown_report(report(steps=steps, is_confirmed=True, needs_actiondbg=True))
    assert "needs actiondbg" in text and "stock tool alone" not in text
    assert "\nactiondbg --batch --skips verdict.skips -ex run -- mlir-opt in.mlir\n" in text
    assert "stock tool alone" in markdown_report(report())
