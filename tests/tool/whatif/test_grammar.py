"""Each form of an alternative, compared byte by byte with a cold run of the other pipeline."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg import whatif
from actiondbg.errors import UsageError
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes.random_pipelines import MERGE, OFF, PROGRAM, RandomPipeline, ask
from tests.fakes.stock_tool import CALLS

BUILDS = LIBRARY

# A run makes few rewrites, so that the output shows how many there were, and in which order.
FEW = "max-iterations=1 region-simplify=disabled max-num-rewrites=2"
NESTED = "builtin.module(func.func(C,cse,C),sccp,C)".replace("C", f"canonicalize{{{FEW}}}")


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "sums.mlir").write_text(PROGRAM)
    return str(tmp_path / "sums.mlir")


def cold(tool: str, source: str, pipeline: str) -> tuple[int, str]:
    done = subprocess.run(
        [tool, source, f"--pass-pipeline={pipeline}"], capture_output=True, text=True
    )
    return done.returncode, done.stdout


def answers(
    tool: str, source: str, pipeline: str, text: str, at: str | None = None, jobs: int = 1
) -> list[tuple[int | None, str]]:
    """The status and the final IR of each alternative, "" without one."""
    with actiondbg.launch([tool, source, f"--pass-pipeline={pipeline}"]) as session:
        if at is None:
            session.start()
        else:
            session.breakpoints.add(at)
            session.run()
        with whatif.compare(session, text, jobs=jobs) as found:
            rows = list(enumerate(found.rows))[1:]
            return [
                (row.status, "" if row.operations is None else found.final_ir(number))
                for number, row in rows
            ]


@pytest.mark.parametrize(
    ("text", "pipeline"),
    [
        ("drop cse", "func.func(C,C),sccp,C"),
        ("drop canonicalize#1", "func.func(cse,C),sccp,C"),
        ("drop canonicalize#2", "func.func(C,cse),sccp,C"),
        # The third run is of the second function, at the place of the first run.
        ("drop canonicalize#3", "func.func(cse,C),sccp,C"),
        ("drop canonicalize#7 and drop canonicalize#2", "func.func(C,cse),sccp"),
        ("drop canonicalize and append 'canonicalize'", "func.func(cse),sccp,canonicalize"),
        ("drop * and append 'sccp,func.func(cse)'", "sccp,func.func(cse)"),
        (
            "canonicalize{max-num-rewrites=2 top-down=false}",
            "func.func(F,cse,F),sccp,F".replace("F", f"canonicalize{{{FEW} top-down=false}}"),
        ),
        (
            "canonicalize#2{max-num-rewrites=-1 max-iterations=10} and drop cse",
            "func.func(C,canonicalize{region-simplify=disabled}),sccp,C",
        ),
        ("swap canonicalize#1 cse and drop canonicalize#2", "func.func(cse,C),sccp,C"),
        ("move canonicalize#7 before sccp and drop cse", "func.func(C,C),C,sccp"),
        ("move cse after sccp", "func.func(C,C),sccp,func.func(cse),C"),
        (
            "replace cse with 'sccp,canonicalize{top-down=false}' and append cse",
            "func.func(C,sccp,canonicalize{top-down=false},C),sccp,C,cse",
        ),
        (
            "insert canonicalize before canonicalize#1 and insert 'control-flow-sink' after sccp",
            "func.func(canonicalize,C,cse,C),sccp,control-flow-sink,C",
        ),
        (f"pattern:{MERGE} off in canonicalize#1", "func.func(D,cse,C),sccp,C"),
        (
            f"pattern:{MERGE} off in canonicalize#1 and canonicalize#2{{{OFF}}} and drop sccp",
            "func.func(D,cse,D),C",
        ),
        (f"pattern:{MERGE} off in canonicalize", "func.func(D,cse,D),sccp,D"),
        (
            f"pattern:{MERGE} off and canonicalize{{max-num-rewrites=3}}",
            "func.func(E,cse,E),sccp,E".replace(
                "E", f"canonicalize{{{FEW} max-num-rewrites=3 {OFF}}}"
            ),
        ),
    ],
)
def test_an_alternative_is_a_cold_run(mlir_opt: str, source: str, text: str, pipeline: str) -> None:
    for letter, options in (("C", FEW), ("D", f"{FEW} {OFF}")):
        pipeline = re.sub(rf"\b{letter}\b", f"canonicalize{{{options}}}", pipeline)
    expected = cold(mlir_opt, source, f"builtin.module({pipeline})")
    assert expected[0] == 0
    assert expected != cold(mlir_opt, source, NESTED)
    assert answers(mlir_opt, source, NESTED, text) == [expected]


@pytest.mark.parametrize("seed", range(8))
def test_random_questions(mlir_opt: str, source: str, seed: int) -> None:
    chance = random.Random(seed)
    pipeline = RandomPipeline(chance)
    questions = [ask(pipeline, chance) for _ in range(5)]
    found = answers(
        mlir_opt, source, str(pipeline), "; ".join(one.text for one in questions), jobs=2
    )
    for question, answer in some(zip(questions, found, strict=True)):
        assert answer == cold(mlir_opt, source, question.pipeline), (str(pipeline), question)


def test_places_from_a_stop_in_the_middle(mlir_opt: str, source: str) -> None:
    # Before cse on the first function: canonicalize#1 has run on it, and not on the others.
    text = "insert 'sccp' before cse; drop canonicalize#1; canonicalize#2{top-down=false}"
    inserted, dropped, _ = answers(mlir_opt, source, NESTED, text, at="pass:cse")
    assert inserted == cold(mlir_opt, source, NESTED.replace(",cse", ",sccp,cse"))
    with actiondbg.launch([mlir_opt, source, f"--pass-pipeline={NESTED}"]) as session:
        session.skips.rules.add("pass:canonicalize", "func != 'sums' and ordinal < 150")
        session.start()
        runs = [one for one in session.past.passes() if one.name == "canonicalize"]
        assert [one.outcome.result == "skipped" for one in runs if one.outcome][:5] == [
            False,
            False,
            True,
            True,
            True,
        ]
    assert dropped[0] == 0


def test_a_pass_that_runs_passes_has_places_too(mlir_opt: str, tmp_path: Path) -> None:
    file = tmp_path / "calls.mlir"
    file.write_text(CALLS)
    pipeline = "builtin.module(inline,cse)"
    text = f"pattern:{MERGE} off in inline; insert 'symbol-dce' after inline"
    off, inserted = answers(mlir_opt, str(file), pipeline, text)
    other = f"builtin.module(inline{{default-pipeline=canonicalize{{{OFF}}}}},cse)"
    assert off == cold(mlir_opt, str(file), other)
    assert inserted == cold(mlir_opt, str(file), "builtin.module(inline,symbol-dce,cse)")


def test_a_pipeline_that_fails_fails_the_run(mlir_opt: str, source: str) -> None:
    failing = "func.func(transform-interpreter)"
    text = f"insert '{failing}' before sccp; insert '{failing}' after sccp; append '{failing}'"
    for status, _ in some(answers(mlir_opt, source, NESTED, text)):
        assert status == 1
    assert cold(mlir_opt, source, f"builtin.module({failing})")[0] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("drop canonicalize#9", r"The pass canonicalize runs 7 times: name a run from"),
        ("canonicalise{top-down=false}", "No pass 'canonicalise' runs: the passes of this run are"),
        (
            "move canonicalize before sccp",
            r"at 3 places .*: name one of canonicalize#1, .*#7",
        ),
        # The numbers are those of passes, without the adaptors between them.
        ("move * before sccp", r"at 5 places .*: name one of \*#1, \*#2, \*#3, \*#10, \*#11\."),
        ("move sccp before cse", "sccp runs on builtin.module, and cannot run in the place of cse"),
        ("swap cse sccp", "cannot run in the place of"),
        ("move cse before cse", "cse cannot be moved before itself"),
        ("drop cse#1 and move cse after sccp", "cse is left out by an earlier change"),
        ("cse{x=1} and replace cse with 'sccp'", "cse is changed twice in one alternative"),
        ("cse{nonsense=1}", r"A pipeline cannot run at its place: .*nonsense"),
        ("insert 'nonsense' after cse", r"A pipeline cannot run at its place: 'nonsense' does not"),
    ],
)
def test_questions_without_an_answer(mlir_opt: str, source: str, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        answers(mlir_opt, source, NESTED, text)


def test_what_has_run_cannot_be_changed(mlir_opt: str, source: str) -> None:
    with pytest.raises(UsageError, match="cse has run before this stop"):
        answers(mlir_opt, source, NESTED, "move cse after canonicalize#7", at="pass:sccp")


def test_a_place_with_several_runs_is_noted(mlir_opt: str, source: str) -> None:
    with actiondbg.launch([mlir_opt, source, f"--pass-pipeline={NESTED}"]) as session:
        session.start()
        with whatif.compare(session, "drop canonicalize#2; drop canonicalize#7") as found:
            assert found.notes == [
                "canonicalize#2 is one of 3 runs at its place in the pipeline; the change holds "
                "for all of them."
            ]


@pytest.mark.parametrize("text", ["drop canonicalize", "replace canonicalize with 'cse'"])
def test_places_inside_another_pass_are_noted(mlir_opt: str, tmp_path: Path, text: str) -> None:
    file = tmp_path / "calls.mlir"
    file.write_text(CALLS)
    with actiondbg.launch([mlir_opt, str(file), "--inline", "--canonicalize"]) as session:
        session.start()
        runs = [run for run in session.past.passes() if run.name == "canonicalize"]
        assert runs[-1].depth == 0 and all(run.depth > 0 for run in some(runs[:-1]))
        with whatif.compare(session, f"{text}; {text.replace('ize', 'ize#1', 1)}") as found:
            first = [note for note in found.notes if "inside" in note]
        assert first == [
            "canonicalize runs inside inline as well, and the change holds there, too: "
            f"canonicalize#{len(runs)} is the first that does not."
        ]
