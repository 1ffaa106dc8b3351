"""Watches: what they stop at, what they say, and by whom it was done."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.session import open_session
from tests.elements import some
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]
Debian = Callable[[str], str]

# canonicalize turns ((a + 1) + 2) + 3 into a + 6, in two steps; see the debug output.
CHAIN = """\
func.func @chain(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %x = arith.addi %a, %c1 : i32
  %y = arith.addi %x, %c2 : i32
  %z = arith.addi %y, %c3 : i32
  return %z : i32
}
"""
LOOP = """\
func.func @loop(%n: index, %x: i32, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %y = arith.addi %x, %x : i32
    memref.store %y, %m[%i] : memref<?xi32>
  }
  return
}
"""
ATTRIBUTE = """\
func.func @f() {
  "test.any_attr_of_i32_str"() {attr = 0 : i32} : () -> ()
  return
}
"""


@pytest.fixture
def chain(launch: Launch) -> actiondbg.Session:
    """At the start of canonicalize, with the cursor on %y."""
    session = launch(source=stock.write("chain.mlir", CHAIN))
    session.start()
    session.cursor.move("location", path="chain.mlir", line=6)
    return session


def on(session: actiondbg.Session) -> list[Stop]:
    """Go on to the end; return the stops, each of which is the watch's."""
    found: list[Stop] = []
    while (stop := session.continue_()).when != "exit":
        assert (stop.reason, stop.breakpoints) == ("watch", [1])
        assert stop.message and not stop.message.endswith(".")
        assert stop.culprit is not None
        found.append(stop)
    assert stop.status == 0
    return found


def who(stop: Stop) -> tuple[str, str]:
    assert stop.culprit is not None
    return stop.culprit.tag, stop.culprit.name


def test_watch_follows_a_replacement(chain: actiondbg.Session) -> None:
    """%y becomes a + 3, and that is dead when %z has become a + 6."""
    id = chain.cursor.get().unit.id
    watch = chain.breakpoints.watch("cursor")
    assert (watch.kind, watch.spec) == ("watch", f"watch @{id}")
    replaced, *rest = on(chain)
    assert who(replaced) == ("apply-pattern", "AddIAddConstant")
    assert (replaced.when, replaced.location) == ("after", "chain.mlir:6:8")
    assert replaced.culprit is not None and not replaced.culprit.guess
    assert replaced.culprit.ordinal == replaced.ordinal
    by = re.search(rf"@{id} arith\.addi was replaced by @(\d+)", replaced.message or "")
    assert by is not None and int(by[1]) != id
    erased = rest[-1]
    assert f"@{by[1]} arith.addi was erased" in (erased.message or "")
    assert who(erased)[0] == "GreedyPatternRewriteIteration"
    assert chain.breakpoints.get(1).hits == 1 + len(rest)


def test_watch_follows_a_replacement_when_breakpoints_change(chain: actiondbg.Session) -> None:
    chain.breakpoints.watch("cursor")
    replaced = chain.continue_()
    by = re.search(r"was replaced by @(\d+)", replaced.message or "")
    assert by is not None
    chain.breakpoints.add("pattern:NoSuch")
    chain.breakpoints.delete([2])
    *_, last = on(chain)
    assert last.message == f"@{by[1]} arith.addi was erased (watch 1 has ended)"


@pytest.mark.parametrize("exact", [False, True])
def test_the_end_of_a_watch_is_reported(
    chain: actiondbg.Session, mlir_opt: str, exact: bool
) -> None:
    chain.breakpoints.watch("cursor", exact=exact)
    messages = [stop.message or "" for stop in on(chain)]
    assert [message.endswith("(watch 1 has ended)") for message in messages[-2:]] == [
        *([False] * (len(messages) > 1)),
        True,
    ]
    argv = [mlir_opt, "chain.mlir", "--canonicalize", "--mlir-disable-threading"]
    record(argv, "run.adbrec", stdout="out.mlir")
    with open_session("run.adbrec") as recorded:
        recorded.run()
        recorded.breakpoints.watch(f"@{chain.breakpoints.get(1).watch.id}", exact=exact)  # type: ignore[union-attr]
        recorded.start()
        found: list[str] = []
        while (stop := recorded.continue_()).when != "exit":
            found.append(stop.message or "")
    assert found == messages


def test_exact_does_not_follow(chain: actiondbg.Session) -> None:
    id = chain.cursor.get().unit.id
    watch = chain.breakpoints.watch("cursor", exact=True)
    assert watch.spec == f"watch --exact @{id}"
    stops = on(chain)
    assert "was replaced by" in (stops[-1].message or "")
    assert all(f"@{id} " in (stop.message or "") for stop in stops)
    assert who(stops[-1]) == ("apply-pattern", "AddIAddConstant")


def test_watch_reports_modifications(chain: actiondbg.Session) -> None:
    """%y is replaced, which changes an operand of %z, before %z is replaced too."""
    watch = chain.breakpoints.watch("%z")
    chain.cursor.move("location", path="chain.mlir", line=7)
    id = chain.cursor.get().unit.id
    assert watch.spec == f"watch @{id}"
    modified, replaced = on(chain)
    assert "modified" in (modified.message or "") and "operands" in (modified.message or "")
    assert modified.location == "chain.mlir:6:8"
    assert who(modified) == ("apply-pattern", "AddIAddConstant")
    assert "was replaced by" in (replaced.message or "")
    assert replaced.location == "chain.mlir:7:8"
    assert replaced.ordinal > modified.ordinal


def test_watch_of_an_id_before_its_creation(chain: actiondbg.Session) -> None:
    chain.breakpoints.watch("cursor")
    first = chain.continue_()
    [new] = [one.id for one in first.changes if one.kind == "inserted" and one.op == "arith.addi"]
    chain.breakpoints.delete([1])
    chain.kill()
    watch = chain.breakpoints.watch(f"@{new}")
    assert watch.id == 2
    stop = chain.run()
    assert (stop.reason, stop.ordinal) == ("watch", first.ordinal)
    assert f"@{new} arith.addi was created" in (stop.message or "")
    assert who(stop) == ("apply-pattern", "AddIAddConstant")


def test_watch_before_a_run(launch: Launch) -> None:
    """Ids are the same in each run, so that a watch can be set before the next one."""
    session = launch(source=stock.write("chain.mlir", CHAIN))
    session.start()
    session.cursor.move("location", path="chain.mlir", line=6)
    id = session.cursor.get().unit.id
    session.kill()
    session.breakpoints.watch(f"@{id}")
    stop = session.run()
    assert (stop.reason, who(stop)[1]) == ("watch", "AddIAddConstant")
    assert f"@{id}" in (stop.message or "")


def test_fold_is_the_culprit_of_its_callers_changes(launch: Launch) -> None:
    session = launch()  # sum: %x = a + 0
    session.start()
    session.cursor.move("location", path="folds.mlir", line=5)
    session.breakpoints.watch("cursor")
    stops = on(session)
    assert who(stops[0]) == ("fold", "arith.addi")
    assert stops[0].culprit is not None and stops[0].culprit.guess
    assert "replaced by block argument 0 of" in (stops[0].message or "")


def numbers(stop: Stop) -> tuple[int, int]:
    before, after = re.findall(r"from (\d+) to (\d+)", stop.message or "")[-1]
    return int(before), int(after)


def test_watch_of_a_count(launch: Launch) -> None:
    """The numbers are those of the printed module, and none is missed."""
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    expected = [stock.operations(stock.module(session))["arith.constant"]]
    watch = session.breakpoints.watch("op:arith.constant count")
    assert watch.spec == "watch op:arith.constant count"
    culprits: set[str] = set()
    while (stop := session.continue_()).when != "exit":
        before, after = numbers(stop)
        assert before == expected[-1] != after
        assert after == stock.operations(stock.module(session))["arith.constant"]
        expected.append(after)
        culprits.add(who(stop)[0])
    assert len(expected) > 3
    assert expected[-1] == session.target.output().count("arith.constant")
    # Between two iterations the driver merges equal constants, which is the pass's doing.
    tags = {"fold", "apply-pattern", "GreedyPatternRewriteIteration", "pass-execution"}
    assert culprits == tags


@pytest.mark.parametrize(
    ("glob", "is_changed"), [("*", True), ("builtin.*", False), ("arith.*", True)]
)
def test_a_count_is_the_same_on_the_way_back(
    chain: actiondbg.Session, glob: str, is_changed: bool
) -> None:
    chain.breakpoints.watch(f"op:{glob} count")
    before = chain.ir.count(glob)
    messages: list[str | None] = []
    while (stop := chain.continue_()).when != "exit":
        messages.append(stop.message)
    assert bool(messages) == is_changed
    if is_changed:
        assert f"changed from {before} to" in str(messages[0])
    for message in reversed(messages):
        assert chain.timeline.reverse_continue().message == message


def test_watch_of_a_count_stops_at_each_pattern_that_changes_it(launch: Launch) -> None:
    session = launch(source=stock.write("chain.mlir", CHAIN))
    session.breakpoints.watch("op:arith.* count", condition="name == 'AddIAddConstant'")
    stops = stock.stops(session)
    assert len(stops) == 2  # each makes a constant and an addition, and erases an addition
    assert [stop.name for stop in stops] == ["AddIAddConstant"] * 2
    assert all(after == before + 1 for before, after in map(numbers, stops))


def test_watch_of_an_attribute_of_a_pass(launch: Launch) -> None:
    session = launch("--pass-pipeline=builtin.module(canonicalize,symbol-privatize,cse)")
    session.start()
    session.cursor.move("symbol", name="sum")
    session.breakpoints.watch("attribute sym_visibility of cursor")
    [stop] = on(session)
    assert who(stop) == ("pass-execution", "symbol-privatize")
    assert (stop.when, stop.name) == ("after", "symbol-privatize")
    assert "private" in (stop.message or "") and "sym_visibility" in (stop.message or "")


def test_watch_of_an_attribute_of_a_pattern(debian: Debian, folds: str) -> None:
    argv = [debian("mlir-opt"), stock.write("a.mlir", ATTRIBUTE), "--test-greedy-patterns"]
    with actiondbg.launch(argv) as session:
        session.start()
        session.cursor.move("location", path="a.mlir", line=2)
        id = session.cursor.get().unit.id
        session.breakpoints.watch(f"attribute attr of @{id}")
        stops = on(session)
    steps = [re.findall(r"(\d) : i32", stop.message or "") for stop in stops]
    assert steps == [["0", "1"], ["1", "2"], ["2", "3"]]
    assert {who(stop)[0] for stop in stops} == {"apply-pattern"}
    assert "attr = 3" in stock.run(argv, check=True).stdout


@pytest.mark.parametrize(
    ("target", "message"), [("%y", ["was moved"]), ("attribute overflowFlags of %y", [])]
)
def test_a_watch_of_an_attribute_sees_no_move(
    target: str, message: list[str], launch: Launch
) -> None:
    source = stock.write("loop.mlir", LOOP)
    session = launch("--loop-invariant-code-motion", source=source)
    session.start()
    session.breakpoints.watch(target)
    assert [(stop.message or "").partition("addi ")[2] for stop in on(session)] == message


def test_a_watch_of_an_attribute_sees_no_operands(chain: actiondbg.Session) -> None:
    """An operand of %z changes when %y is replaced, but none of its attributes."""
    chain.breakpoints.watch("attribute overflowFlags of %z")
    assert all(stop.location == "chain.mlir:7:8" for stop in some(on(chain)))


def test_watches_are_breakpoints(chain: actiondbg.Session) -> None:
    watch = chain.breakpoints.watch("cursor")
    [listed] = chain.breakpoints.all()
    assert (listed.id, listed.kind) == (watch.id, "watch")
    chain.breakpoints.disable([watch.id])
    assert chain.continue_().when == "exit"
    chain.breakpoints.enable([watch.id])
    stop = chain.run()
    assert stop.breakpoints == [watch.id]
    chain.breakpoints.delete([watch.id])
    assert chain.continue_().when == "exit"
    assert chain.breakpoints.all() == []


def test_a_disabled_watch_follows_its_operation(chain: actiondbg.Session) -> None:
    chain.breakpoints.watch("cursor")
    replaced = chain.continue_()
    by = re.search(r"was replaced by @(\d+)", replaced.message or "")
    assert by is not None
    chain.run()
    chain.breakpoints.disable([1])
    end = chain.timeline.goto(replaced.ordinal, "after")
    assert end.ordinal == replaced.ordinal
    chain.breakpoints.enable([1])
    *_, last = on(chain)
    assert last.message == f"@{by[1]} arith.addi was erased (watch 1 has ended)"


def test_a_watch_that_was_disabled_while_its_operation_was_erased(
    chain: actiondbg.Session,
) -> None:
    chain.breakpoints.watch("cursor", exact=True)
    chain.breakpoints.disable([1])
    end = chain.breakpoints.add("pass:canonicalize", after=True)
    assert chain.continue_().breakpoints == [end.id]
    chain.breakpoints.enable([1])
    assert chain.continue_().when == "exit"


def test_a_count_is_right_after_its_watch_was_disabled(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    session.breakpoints.watch("op:arith.constant count")
    first = session.continue_()
    session.breakpoints.disable([1])
    session.step(30)
    session.breakpoints.enable([1])
    expected = [stock.operations(stock.module(session))["arith.constant"]]
    assert expected[0] != numbers(first)[1]
    while (stop := session.continue_()).when != "exit":
        assert numbers(stop)[0] == expected[-1]
        expected.append(stock.operations(stock.module(session))["arith.constant"])
        assert numbers(stop)[1] == expected[-1]
    assert len(expected) > 1


def test_a_watch_counts_hits_to_ignore(chain: actiondbg.Session) -> None:
    chain.breakpoints.watch("cursor")
    all_of_them = [stop.message for stop in on(chain)]
    assert len(all_of_them) >= 2
    chain.breakpoints.set_ignore(1, 1)
    assert chain.run().message == all_of_them[1]


@pytest.mark.parametrize(
    ("target", "error", "text"),
    [
        ("", errors.UsageError, "cannot be watched"),
        ("cursro", errors.UsageError, "cursro"),
        ("@0", errors.UsageError, "@0"),
        ("op:arith.addi", errors.UsageError, "count"),
        ("attribute of cursor", errors.UsageError, "attribute"),
        ("%a", errors.UsageError, "block argument"),
        ("%no", errors.NoSuchUnit, "%no"),
    ],
)
def test_targets_that_cannot_be_watched(
    chain: actiondbg.Session, target: str, error: type[Exception], text: str
) -> None:
    cursor = chain.cursor.get().unit.id
    with pytest.raises(error, match=re.escape(text)):
        chain.breakpoints.watch(target)
    assert chain.breakpoints.all() == []
    assert chain.cursor.get().unit.id == cursor


def test_a_name_of_a_value_needs_a_stop(launch: Launch) -> None:
    session = launch()
    for target in ("cursor", "%1"):
        with pytest.raises(errors.NotStopped):
            session.breakpoints.watch(target)


def test_watch_sees_an_operation_that_moves(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    session.cursor.move("location", path="mixed.mlir", line=20)
    session.breakpoints.watch("cursor")
    moved = on(session)[0]
    assert "was moved" in (moved.message or "")
    assert who(moved) == ("apply-pattern", "RemoveStaticCondition")


def test_watch_of_an_operation_in_an_erased_region(launch: Launch) -> None:
    """symbol-dce erases a function, and with it the operations inside."""
    session = launch("--symbol-dce", source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    session.cursor.move("location", path="mixed.mlir", line=2)
    assert session.cursor.get().unit.name == "func.return"
    session.breakpoints.watch("cursor")
    [erased] = on(session)
    assert "was erased" in (erased.message or "")
    assert (erased.when, who(erased)) == ("after", ("pass-execution", "symbol-dce"))


def test_a_step_leaves_a_stop_between_two_actions(launch: Launch) -> None:
    """What the watch saw and the breakpoint on the next action are one stop, not two."""
    session = launch("--canonicalize")
    session.start()
    watch = session.breakpoints.watch("op:arith.addi count")
    stop = session.continue_()
    assert (stop.when, stop.reason) == ("before", "watch")
    here = session.breakpoints.add(f"#{stop.ordinal}")
    session.restart()
    both = session.continue_()
    assert (both.reason, both.ordinal) == ("watch", stop.ordinal)
    assert set(both.breakpoints) == {watch.id, here.id}
    after = session.step()
    assert (after.when, after.ordinal) != ("before", stop.ordinal)


def test_continue_with_a_count_passes_hits_of_watches(launch: Launch) -> None:
    session = launch()
    session.breakpoints.watch("op:arith.* count")
    one_by_one = [session.run()]
    while one_by_one[-1].when != "exit":
        one_by_one.append(session.continue_())
    events = [stop.event for stop in one_by_one]
    assert len(events) > 4
    session.run()
    assert session.continue_(3).event == events[3]
    assert session.breakpoints.get(1).hits == 4
    assert session.continue_(100).when == "exit"


def test_continue_with_a_count_passes_breakpoints_watches_and_catches_alike(
    launch: Launch,
) -> None:
    session = launch()
    session.breakpoints.watch("op:arith.* count")
    session.breakpoints.add("pattern:AddIAddConstant")
    session.breakpoints.add("tag:fold", outcome="succeeded")
    session.breakpoints.catch("failure")
    stops = [session.run()]
    while stops[-1].when != "exit":
        stops.append(session.continue_())
    assert len({stop.reason for stop in stops}) == 3
    for count in some(range(1, len(stops))):
        session.run()
        stop = session.continue_(count)
        assert (stop.event, stop.when, stop.breakpoints) == (
            stops[count].event,
            stops[count].when,
            stops[count].breakpoints,
        )
