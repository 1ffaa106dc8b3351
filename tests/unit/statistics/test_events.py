"""Which events can be counted, and what is said when the kernel forbids it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from actiondbg.errors import UsageError
from actiondbg.statistics import event_probe as opening
from actiondbg.statistics.event_probe import PARANOID, CountingRefused, choose, try_event
from actiondbg.statistics.events import KNOWN, MOST, CountableEvent, is_clock, parse_events
from tests.fakes import command_line
from tests.fakes.privileges import filtered, unprivileged
from tests.paths import COMMAND


def tried(name: str) -> CountableEvent | None:
    return try_event(KNOWN[name]).counted


# --- names ------------------------------------------------------------------------------


def test_events_have_the_numbers_of_the_kernel() -> None:
    # linux/perf_event.h
    specs = {event.name: event.spec for event in KNOWN.values()}
    assert specs["cycles"] == "cycles=0:0"
    assert specs["branch-misses"] == "branch-misses=0:5"
    assert specs["ref-cycles"] == "ref-cycles=0:9"
    assert specs["page-faults"] == "page-faults=1:2"
    assert specs["major-faults"] == "major-faults=1:6"
    assert specs["L1-dcache-load-misses"] == f"L1-dcache-load-misses=3:{1 << 16}"
    assert specs["LLC-stores"] == f"LLC-stores=3:{2 | 1 << 8}"
    assert specs["dTLB-prefetch-misses"] == f"dTLB-prefetch-misses=3:{3 | 2 << 8 | 1 << 16}"
    assert specs["branch-load-misses"] == f"branch-load-misses=3:{5 | 1 << 16}"
    assert len(set(event.spec.split("=")[1] for event in KNOWN.values())) == len(KNOWN)


def test_names_are_those_of_perf() -> None:
    events = parse_events(["cs", "faults", "cycles:u", "task-clock:u", "r01C2", "cs"])
    assert [event.spec for event in events] == [
        "context-switches=1:3",
        "page-faults=1:2",
        "cycles:u=0:0:u",
        "task-clock=1:1:u",
        "r01C2=4:450",
    ]
    assert is_clock("task-clock") and not is_clock("cycles")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["page-fault"], "There is no event 'page-fault': did you mean 'page-faults' or"),
        (["zzz"], "There is no event 'zzz': 'actiondbg stat --list-events' lists this machine"),
        ([""], "There is no event '': "),
        (["rxyz"], "There is no event 'rxyz'"),
        (["cs:u"], "'cs:u' would always be 0: the event happens only inside the kernel."),
        (
            [f"r{i}" for i in range(MOST + 1)],
            "17 events were given, but one run counts at most 16: name",
        ),
    ],
)
def test_wrong_names(names: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        choose(names)
    assert str(error.value).startswith(message)


# --- what opens -------------------------------------------------------------------------


def test_only_events_that_open_are_chosen() -> None:
    assert choose(["none"]) == []
    default = choose(["default"])
    assert default and all(try_event(event).counted == event for event in default)
    hardware = any(event.kind == "hardware" for event in default)
    assert hardware == (tried("cycles") is not None)
    assert {"page-faults", "page-faults:u"} & {event.name for event in default}
    again = choose([event.name for event in default])
    assert again == default


def test_event_that_the_machine_lacks() -> None:
    absent = next((name for name in KNOWN if tried(name) is None), None)
    if absent is None:
        pytest.skip("this machine gives all events")
    with pytest.raises(CountingRefused) as error:
        choose(["page-faults", absent])
    assert str(error.value).startswith(f"{absent!r} cannot be counted: this machine has no counter")


def test_too_many_for_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    real = opening._refusal  # pyright: ignore[reportPrivateUsage]

    def refuse(events: list[Any]) -> int | None:
        return 22 if len(events) > 2 else real(events)

    monkeypatch.setattr(opening, "_refusal", refuse)
    with pytest.raises(CountingRefused) as error:
        choose(["page-faults", "minor-faults", "major-faults"])
    assert str(error.value) == (
        "'major-faults' cannot be counted together with page-faults, minor-faults (Invalid "
        "argument): the machine has too few counters, name fewer events."
    )
    assert len(choose(["default"])) == 2


# --- the command, where the kernel forbids it ---------------------------------------------


def test_events_are_listed() -> None:
    done = command_line.run("stat", "--list-events")
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line.split()[0]: line.split(maxsplit=2)[1:] for line in done.stdout.splitlines()}
    assert lines.keys() == KNOWN.keys()
    assert lines["page-faults"][0] == "software" and lines["page-faults"][1].startswith("yes")
    for name, (kind, words) in lines.items():
        assert kind == KNOWN[name].kind
        assert words.startswith("yes") == (tried(name) is not None)


def test_events_of_an_ordinary_user_exclude_the_kernel() -> None:
    done = unprivileged(COMMAND, "stat", "--list-events")
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line.split()[0]: line.split(maxsplit=2)[2] for line in done.stdout.splitlines()}
    setting = f"{PARANOID} is {PARANOID.read_text().strip()}"
    if int(PARANOID.read_text()) == 2:
        assert lines["page-faults"] == f"yes, outside the kernel only: {setting}"
    assert lines["context-switches"] == f"no: {setting}"


def test_the_setting_that_forbids_is_named() -> None:
    done = unprivileged(COMMAND, "stat", "--events", "cs", "--", "mlir-opt")
    value = PARANOID.read_text().strip()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"actiondbg: The kernel forbids counting 'context-switches' ({PARANOID} is {value}): run "
        "'sysctl kernel.perf_event_paranoid=1' as root, or actiondbg with CAP_PERFMON; "
        "'--events none' measures durations alone.\n"
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "perf_event_open is refused (EPERM), a seccomp filter is active"),
        (38, "perf_event_open is missing (ENOSYS), a seccomp filter is active"),
    ],
)
def test_container_that_forbids_events(code: int, words: str) -> None:
    done = filtered(code, COMMAND, "stat", "--", "mlir-opt")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        f"actiondbg: The kernel forbids counting 'task-clock' ({words}): "
    )
    assert "'--events none' measures durations alone.\n" in done.stderr
    listed = filtered(code, COMMAND, "stat", "--list-events").stdout.splitlines()
    assert len(listed) == len(KNOWN) and all(line.endswith(f"no: {words}") for line in listed)


def test_another_failure_is_reported() -> None:
    done = filtered(24, COMMAND, "stat", "--events", "page-faults", "--", "mlir-opt")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "actiondbg: 'page-faults' cannot be counted (perf_event_open fails: Too many open files): "
        "'--events none' measures durations alone.\n"
    )


def test_an_unknown_event_is_bad_usage() -> None:
    done = command_line.run("stat", "--events", "page-fault", "--", "mlir-opt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no event 'page-fault': did you mean 'page-faults'" in done.stderr


def test_events_are_listed_without_any_package() -> None:
    script = (
        "import sys; sys.modules['numpy'] = sys.modules['pyarrow'] = sys.modules['duckdb'] = None; "
        "from actiondbg.cli import main; sys.exit(main(['stat', '--list-events']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(KNOWN)
