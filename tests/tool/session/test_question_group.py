"""Questions that are asked together: their answers are those of the questions alone."""

from __future__ import annotations

from collections.abc import Callable

import actiondbg
from actiondbg.errors import AgentError
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock

BUILDS = LIBRARY


def seen(session: actiondbg.Session) -> list[object]:
    """Return what a front end shows of a stop, or the errors."""
    questions: list[Callable[[], object]] = [
        session.stack.frames,
        session.stack.action,
        session.cursor.get,
        session.cursor.defs,
        session.cursor.users,
        lambda: session.ir.excerpt(before=0, after=0),
        lambda: session.ir.excerpt(before=9, after=9),
    ]
    answers: list[object] = []
    for question in questions:
        try:
            answers.append(question())
        except AgentError as error:
            answers.append((type(error), str(error)))
    return answers


def test_answers_are_the_same_as_alone(mlir_opt: str, folds: str) -> None:
    argv = [mlir_opt, folds, stock.PASSES]
    with actiondbg.launch(argv) as alone, actiondbg.launch(argv) as together:
        together.ask_together(9)
        for session in (alone, together):
            session.start()
        count = 0
        while alone.stop is not None and alone.stop.when != "exit":
            assert seen(together) == seen(alone)
            for session in (alone, together):
                if count % 3 == 0:
                    session.stack.select(len(session.stack.frames()) - 1)
            assert seen(together) == seen(alone)
            for session in (alone, together):
                session.step(7)
            count += 1
    assert count > 10


def test_a_move_and_a_way_back_change_the_answers(mlir_opt: str, folds: str) -> None:
    with actiondbg.launch([mlir_opt, folds, "--canonicalize"]) as session:
        session.ask_together()
        session.breakpoints.add("pattern:AddIAddConstant and func:sum")
        session.run()
        before = session.cursor.get()
        assert session.cursor.parent() != before
        assert session.cursor.get() != before
        session.cursor.move("action")
        assert session.cursor.get() == before
        session.step()
        after = session.cursor.get()
        session.timeline.reverse_step()
        assert session.cursor.get() == before
        session.step()
        assert session.cursor.get() == after
