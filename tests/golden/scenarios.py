"""The scenarios whose transcripts are kept: what is run, on which inputs.

A scenario runs its steps one after the other in one new directory, which holds the files of
``tests/golden/inputs`` and ``examples``. Each step is a line of bash, or a session: commands of
the shell over a tool or a recording. Commands that belong together share a scenario, because
the start of a tool takes most of the time.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

FOLD = "mlir-opt fold.mlir --canonicalize"
CSE = "mlir-opt fold.mlir --canonicalize --cse"
MIXED = (
    "mlir-opt mixed.mlir --pass-pipeline='builtin.module(func.func(canonicalize),func.func(cse),"
    "symbol-dce,inline,canonicalize,sccp)'"
)
CRASH = "mlir-opt crash.mlir --canonicalize --finalize-memref-to-llvm"
TENSOR = "mlir-opt tensor.mlir --allow-unregistered-dialect --one-shot-bufferize"
NOT_CONVERGED = (
    "mlir-opt fold.mlir "
    "--pass-pipeline='builtin.module(canonicalize{test-convergence=true max-iterations=1})'"
)
RECORD = f"actiondbg record -q -o run.adbrec --ir function -- {FOLD} -o out.mlir"
RECORD_PLAIN = f"actiondbg record -q -o plain.adbrec -- {FOLD} -o out.mlir"
OPEN = "open run.adbrec"


@dataclass(frozen=True)
class Step:
    """One command line, and how its output is kept.

    Args:
        shown: the command line in the transcript.
        command: the line of bash that is run.
        stdin: its standard input.
        merged: keep standard output and standard error as one stream, in the order of writing.
        squeezed: replace runs of spaces and dashes, for tables as wide as the durations in them.
        literal: keep durations, which are part of the text and not measured.
        commands: the commands of the shell, one a line.
    """

    shown: str
    command: str
    stdin: str = ""
    merged: bool = False
    squeezed: bool = False
    literal: bool = False
    commands: str = ""


@dataclass(frozen=True)
class Scenario:
    """Steps that share a directory, and the name of their transcript."""

    name: str
    steps: tuple[Step, ...]


def line(command: str, stdin: str = "", *, squeezed: bool = False, literal: bool = False) -> Step:
    """Make a step of a line of bash."""
    return Step(command, command, stdin, squeezed=squeezed, literal=literal)


def session(target: str, commands: str, options: str = "", *, literal: bool = False) -> Step:
    """Make a step of a session in text: each command is echoed before its output.

    Args:
        target: a command line of a tool, or ``open RECORDING``.
        commands: one command a line.
        options: options of actiondbg.
        literal: as in Step.
    """
    words = shlex.join(
        word
        for command in commands.strip().splitlines()
        for word in ("-ex", f"echo (actiondbg) {command}", "-ex", command)
    )
    head = "actiondbg open" if target.startswith("open ") else "actiondbg"
    target = target.removeprefix("open ")
    options = f"-nx --batch --keep-going {options}".strip()
    return Step(
        f"{head} {options} -ex ... {target}",
        f"{head} {options} {words} {target}",
        merged=True,
        literal=literal,
        commands=commands,
    )


def json_session(target: str, commands: str) -> Step:
    """Make a step of a session in JSON, whose commands come from the standard input."""
    head = "actiondbg open --json" if target.startswith("open ") else "actiondbg --json"
    command = f"{head} -nx {target.removeprefix('open ')}"
    return Step(f"{command} < commands", command, f"{commands.strip()}\n", commands=commands)


def _scenario(name: str, *steps: Step) -> Scenario:
    return Scenario(name, steps)


_DOCUMENTED = Path(__file__).resolve().parents[2] / "docs/commands.md"


def documented_commands() -> list[str]:
    """Return the names of all commands, as the table of docs/commands.md has them."""
    names: list[str] = []
    for row in _DOCUMENTED.read_text().splitlines():
        if row.startswith("| `") and row.count(" | ") == 2 and "| does |" not in row:
            words = row.removeprefix("| `").split("`")[0].split(" [")[0].split()
            name = words[0]
            two = len(words) > 1 and name in ("info", "save", "load", "delete")
            if two and words[1].isalpha() and words[1].islower():
                name = f"{name} {words[1]}"
            if name not in names:
                names.append(name)
    return names


SUBCOMMANDS = ("bisect", "record", "log", "trace", "report", "stat", "query", "export", "open")

SHELL = (
    _scenario(
        "shell-help",
        session(
            FOLD,
            "help\n"
            + "\n".join(f"help {name}" for name in documented_commands())
            + "\nhelp spec\nhelp expr\nhelp bogus\nhelp info bogus\nh break\n?step",
            literal=True,
        ),
    ),
    _scenario(
        "shell-running",
        session(
            FOLD,
            """\
continue
step
info program
start
start
info program
next
step 5
continue 3
kill
kill
run
run
info program
restart
run mixed.mlir --cse > out.mlir
!cat out.mlir
run < missing.mlir
start fold.mlir --canonicalize
finish
step
finish
skip
apply
skip x
step 0
step -1
step many
step 1 2
run fold.mlir --no-such-option
info program
start --canonicalize > out.mlir < fold.mlir 2> err.txt
info program
info tool
kill
!cat out.mlir err.txt
quit
list
""",
        ),
    ),
    _scenario(
        "shell-stepping",
        session(
            FOLD,
            """\
start
step
s 2
n
next-change
nc
step
fin
reverse-step
rs 3
until pattern:AddIAddConstant
until op:no.such
advance pass:cse
start
advance pattern:AddIAddConstant if line == 8
apply
start
u fold:* if depth > 1
tbreak #11
continue
skip
start
advance bogus:x
advance
until
next-change 100
next-change
""",
        ),
    ),
    _scenario(
        "shell-breakpoints",
        session(
            FOLD,
            """\
break pattern:AddIAddConstant
b --after fold:arith.*
break --outcome changed pattern:*
break fold.mlir:8 if depth > 1 and name ~ 'Add*'
tbreak pass:canonicalize
break-on-tag fold
break-on-file fold.mlir:7:11
break func:shift and op:func.return
break AddIAddConstant
list
condition 4 ordinal > 5
condition 4
condition 4 bogus > 1
condition 99 depth > 1
ignore 1 1
ignore $_ 3
ignore 1
ignore 1 -2
disable 2 3
disable 6-8
enable 3
enable 99
dis x
run
continue
continue
info breakpoints
delete 2
delete 2
d 4-5
delete all
list
run
break
break pattern:
break bogus:x
break tag:nosuch
break pattern:NoSuchPattern
break pattern:AddIAddConstnt
break fold.mlir:x
break #x
break #11 if
break #11 if depth >
break #11 if depth > 'x'
break #11 if (depth > 1
break #11 if hits == 1 or not (line != 8) and file !~ "x*"
break --outcome nosuch pattern:*
break --no-such-option pattern:*
break-on-tag
break-on-tag nosuch
break-on-file
break-on-file missing.mlir:1
break-on-file fold.mlir:0
commands 99
list
save breakpoints my.adbg
!cat my.adbg
delete
source my.adbg
list
save breakpoints
save bogus x
save breakpoints missing/my.adbg
""",
        ),
    ),
    _scenario(
        "shell-stack",
        session(
            FOLD,
            """\
backtrace
up
frame
context
info action
break #11
run
backtrace
bt 1
where 99
frame
up
info action
context
up
up
down
down 2
down
frame 2
f 9
frame x
info action
next
backtrace
context
info action
info outcome
info changes
info changes --own
info changes --count 2
info changes --count x
up
info changes
info outcome
""",
        ),
    ),
    _scenario(
        "shell-ir-and-cursor",
        session(
            FOLD,
            """\
print
count arith.*
cursor-print
cursor-parent
info cursor
break #11
run
print
p cursor
print action
print function
print module
print --generic
print --locations function
print function --skip-regions
print --plain module
print bogus
print --bogus
count op:arith.*
count func.* --function
count
info cursor
context
cursor-select-from-context 0
cursor-select-from-context 9
cursor-select-id @3
cursor-select-id 5
cursor-select-id @99
cursor-select-id x
cursor-print
cursor-defs
cursor-defs 0
cursor-users
cursor-users 0
cursor-users 9
cursor-previous
cursor-next
cursor-next 2
cursor-next 50
cursor-parent
cursor-child 0
cursor-child 99
cursor-child
cursor-function
cursor-child 0
cursor-child 0
cursor-child 1
cursor-module
cursor-parent
cursor-goto @shift
cursor-goto fold.mlir:8:12
cursor-goto fold.mlir:99
cursor-goto %arg0
cursor-goto %nosuch
cursor-goto @nosuch
cursor-goto @5
cursor-goto action
cursor-goto
print module > out.mlir
!cat out.mlir
print function >> out.mlir
!wc -l < out.mlir
print module | grep -c arith
print > missing/out.mlir
print | false
run > ignored.mlir
print
""",
        ),
        session(
            "mlir-opt dense.mlir --canonicalize",
            """\
start
print module
cursor-goto dense.mlir:2
print
cursor-next
cursor-previous
print --elide 4
set elide off
print
print --elide 30
print --elide x
""",
        ),
    ),
    _scenario(
        "shell-what-actions-did",
        session(
            FOLD,
            """\
diff
why-not AddIAddConstant
history
history @5
info outcome
info changes
info patterns
info passes
info folds
info cycles
start
diff
info outcome
info patterns
advance #11
why-not AddIAddConstant
history @5
next
diff
diff --module
diff --unified --context 0
diff --side-by-side
diff #5
diff #99
diff x
diff --context x
why-not AddIAddConstant
why-not --all AddIAddConstant
why-not AddIAddConstant fold.mlir:7
why-not AddIAddConstant @5
why-not
history
history @5
history %c5_i32
history %nosuch
history @99
history cursor
why-not AddIAddConstant cursor
why-not --next AddIAddConstant
info patterns Add*
info patterns --sort name
info patterns --sort attempts AddIAdd*
info patterns --sort bogus
info patterns NoSuch
info folds
info folds arith.*
info passes
info cycles
why-not NoSuch
info changes
continue
info passes
diff #11
why-not AddIAddConstant
history @5
history
""",
        ),
    ),
    _scenario(
        "shell-watches-and-catches",
        session(
            FOLD,
            """\
watch cursor
start
watch @5
watch --exact @6
cursor-goto @3
watch cursor
watch attribute value of cursor
watch op:arith.* count
watch op:arith.addi count if depth > 1
watch %once
watch %nosuch
watch @99
watch bogus
watch
catch failure
catch crash
catch verify
catch diagnostic *operand*
catch nonconvergence
catch bogus
catch
list
continue
continue
continue
continue
delete 2-7
continue
info breakpoints
set verify-each-action on
run
""",
        ),
        session(
            NOT_CONVERGED,
            """\
catch failure cs*
catch failure canon*
run
info outcome
continue
delete
catch nonconvergence
run
backtrace
continue
info program
""",
        ),
        session(
            TENSOR,
            """\
catch diagnostic *not bufferized*
run
backtrace
print
skip
step
continue
info program
""",
        ),
    ),
    _scenario(
        "shell-crash",
        session(
            CRASH,
            """\
catch crash
run
info action
backtrace
print
diff
step
reverse-step
info timeline
continue
continue
""",
        ),
        line("ls; cat actiondbg-reproducer-*.mlir"),
        session(CRASH, "run\ninfo program\nbacktrace\nreverse-step\nbacktrace"),
    ),
    _scenario(
        "shell-time-travel",
        session(
            FOLD,
            """\
set checkpoints off
goto #5
reverse-step
checkpoint
info checkpoints
info timeline
save skips my.skips
start
reverse-step
info timeline
info checkpoints
step 3
goto #11
goto #11 --after
goto --after #5
goto 7
goto #999
goto x
goto
reverse-step
rs 2
reverse-next
rn
reverse-finish
rf
break pattern:AddIAddConstant
reverse-continue
continue
checkpoint
continue
rc
reverse-continue 2
rc
info checkpoints
restart 1
restart 9
delete checkpoint 1
delete checkpoint 1
delete checkpoint x
goto #11
skip
info timeline
save skips my.skips
!cat my.skips
goto #11
apply
info timeline
delete all
load skips my.skips
run
load skips missing.skips
load skips fold.mlir
load skips
load bogus x
""",
        ),
        session(FOLD, "run\ninfo timeline", "--skips my.skips"),
        session(FOLD, "run", "--skips missing.skips"),
    ),
    _scenario(
        "shell-displays-and-settings",
        session(
            FOLD,
            """\
display
info displays
display info outcome
display backtrace 1
display diff
display bogus
display continue
start
step
info displays
undisplay 1
undisplay 9
undisplay
info displays
step
info
info bogus
info break
show
show style
show bogus
set style monokai
set style nosuch
set style off
set print-stop off
step
set print-stop maybe
set pagination off
set elide 4
set elide x
set verify-each-action on
set checkpoints 20
set checkpoints off
set checkpoints x
set checkpoint-memory 64
set checkpoint-memory 0
set count-actions on
set bogus on
set
set style
show
""",
        ),
    ),
    _scenario(
        "shell-scripts",
        session(
            FOLD,
            """\
source blocks.adbg
run
continue
source failing.adbg
source missing.adbg
source
echo some   text > with | signs
echo
# a comment

shell echo from a shell
!exit 3
!
py print(1 + 1)
py print(session.stop.ordinal)
py 1 / 0
alias create bf break fold:*
bf
alias list
alias delete bf
bf
macro create bp break pattern:{1}
bp AddIAddConstant
bp
macro list
edit
trust
bogus
st
c
in b
list
""",
        ),
        session(FOLD, "py import sys; sys.exit(4)\nlist"),
        session(FOLD, "break #11\ncommands 1\nbacktrace\nend\nrun"),
        session(FOLD, "break #11\ncommands"),
        line("cat > .actiondbginit", "echo from the init file\n"),
        line(f"actiondbg --batch -ex list {FOLD}"),
        line(f"actiondbg --batch --trust -ex list {FOLD}"),
        line(f"actiondbg --batch -ex list {FOLD}"),
        line(f"actiondbg -nx --batch -ex list {FOLD}"),
        line(f"actiondbg -nx --batch -x skip.adbg {FOLD}"),
        line(f"actiondbg -nx --batch -x failing.adbg -ex list {FOLD}"),
        line(f"actiondbg -nx --batch -ex bogus -ex list {FOLD}"),
        line(f"actiondbg -nx --batch --keep-going -x failing.adbg -ex list {FOLD}"),
        line(f"actiondbg -nx --batch -ex quit -ex list {FOLD}"),
        line(f"actiondbg -nx {FOLD}", "break #11\nrun\nbogus\nlist\n"),
        line(f"actiondbg -nx --keep-going {FOLD}", "break #11\nrun\nbogus\nlist\nq\nlist\n"),
    ),
    _scenario(
        "shell-bisect",
        session(
            FOLD,
            """\
bisect
bisect --test 'grep -q "constant 2" {}' -o found
bisect --test true -o found
bisect --test true -o good
bisect --crash -o crash
bisect --bogus
info program
""",
        ),
        line("ls found"),
    ),
)

JSON = (
    _scenario(
        "json-running",
        json_session(
            FOLD,
            """\
step
list
start
step
next
next-change
finish
continue
run
bogus
info program
break #11
run
skip
run
apply
start
until fold:*
advance #11
kill
kill
restart
""",
        ),
    ),
    _scenario(
        "json-breakpoints",
        json_session(
            FOLD,
            """\
break pattern:AddIAddConstant if line == 8
tbreak --after pass:canonicalize
break-on-tag fold
break-on-file fold.mlir:8
break --outcome failed pattern:AddISub*
start
watch @5
watch op:arith.* count
catch failure canon*
condition 1 depth > 1
ignore 3 2
disable 4
enable 4
list
info breakpoints
delete 3-5
continue
continue
continue
save breakpoints my.adbg
source my.adbg
break bogus:x
commands 1
delete all
""",
        ),
    ),
    _scenario(
        "json-looking",
        json_session(
            FOLD,
            """\
backtrace
break #11
run
backtrace
context
up
frame
down
frame 1
info action
print
print function --generic
print module > out.mlir
cursor-print
count op:arith.*
count --function arith.addi
info cursor
cursor-goto @5
cursor-select-id @4
cursor-select-from-context 0
cursor-defs
cursor-users
cursor-defs 0
cursor-next
cursor-previous
cursor-parent
cursor-child 0
cursor-function
cursor-module
cursor-parent
set checkpoints off
next
info outcome
info changes
info patterns
info passes
info folds arith.*
info cycles
diff
diff --module
why-not AddIAddConstant
why-not AddIAddConstant @99
history @5
history @99
display info outcome
display bogus
step
display
info displays
undisplay 1
info tool
info program
set style off
show
show style
echo some text
help step
py print(1)
shell echo hello
alias create x list
""",
        ),
    ),
    _scenario(
        "json-time-travel",
        json_session(
            FOLD,
            """\
set checkpoints off
start
info checkpoints
goto #11
goto #11 --after
reverse-step
reverse-next
reverse-finish
break pattern:AddIAddConstant
continue
continue
reverse-continue
checkpoint
info checkpoints
goto #11
skip
info timeline
save skips my.skips
load skips my.skips
restart 1
delete checkpoint 1
goto #999
info timeline
""",
        ),
    ),
    _scenario(
        "json-events",
        json_session(CRASH, "catch crash\nrun\ncontinue\ninfo program"),
        json_session(CRASH, "run\nstep"),
        json_session(TENSOR, "catch diagnostic\nrun\ncontinue"),
        json_session(NOT_CONVERGED, "catch nonconvergence\nrun\ncontinue"),
        line(f"actiondbg --json --batch -ex start -ex bogus -ex list {FOLD}"),
        line(f"actiondbg --json --batch -x failing.adbg {FOLD}"),
        line(f"actiondbg --json --batch --tool-stdout tool.txt -ex run {FOLD} && cat tool.txt"),
        line(f"actiondbg --json --batch --return-child-result -ex run {NOT_CONVERGED}"),
    ),
    _scenario(
        "json-mixed",
        json_session(
            MIXED,
            """\
set checkpoints off
break pass:cse
break pass:inline
run
continue
next
info changes
continue
next
continue
info program
info passes
""",
        ),
    ),
    _scenario(
        "json-bisect",
        json_session(
            FOLD,
            "bisect --test 'grep -q \"constant 2\" {}' -o found\n"
            "bisect --crash -o crash\nbisect --test\nbisect",
        ),
    ),
)

RECORDINGS = (
    _scenario(
        "open-session",
        line(RECORD),
        session(
            OPEN,
            """\
help
info program
info tool
backtrace
step
step 3
backtrace
context
frame 1
up
down
info action
info cursor
info timeline
next
finish
next-change
info outcome
info changes
info changes --own
diff
diff #11 --side-by-side
diff #5
diff #99
print
print function
print module
cursor-select-id @3
cursor-select-id @99
goto #12
why-not AddIAddConstant
why-not AddIAddConstant @5
why-not NoSuch
history @5
history @10
history
history @99
info patterns
info passes
info folds
info cycles
reverse-step
reverse-next
reverse-finish
break pattern:AddIAdd* if depth > 1
break --outcome changed pattern:*
tbreak pass:canonicalize
break bogus:x
list
continue
continue
continue
reverse-continue 2
reverse-continue 9
watch @5
watch --exact @5
catch failure
goto #1
continue
continue
ignore 1 1
condition 1 depth > 99
save breakpoints my.adbg
delete all
until pattern:AddIMul*
advance #20
start
run
step
restart
goto #999
set print-stop on
show
goto #11
display info outcome
step
undisplay 1
echo text
source failing.adbg
py print(session.stop.ordinal)
""",
        ),
        session(
            OPEN,
            """\
skip
apply
kill
checkpoint
info checkpoints
restart 1
delete checkpoint 1
save skips x.skips
load skips x.skips
bisect --crash
count arith.*
cursor-parent
cursor-child 0
cursor-next
cursor-previous
cursor-function
cursor-module
cursor-defs
cursor-users
cursor-print
cursor-goto %x
cursor-select-from-context 0
watch cursor
watch op:arith.* count
watch attribute value of @3
catch crash
catch diagnostic
catch verify
catch nonconvergence
set verify-each-action on
set checkpoints off
run x.mlir
start > out.mlir
help skip
help bisect
help step
""",
        ),
    ),
    _scenario(
        "open-without-ir",
        line(RECORD_PLAIN),
        session("open plain.adbrec", "goto #11\nprint\nprint function\ndiff\nhistory @5\nstep"),
        line("actiondbg open --batch -nx -ex run plain.adbrec"),
        line("actiondbg open --batch -nx -ex bogus -ex list plain.adbrec"),
    ),
    _scenario(
        "open-json",
        line(RECORD),
        json_session(
            OPEN,
            """\
info program
start
step
goto #11
next
backtrace
context
info action
info outcome
info changes
info cursor
info timeline
diff
print
print function
why-not AddIAddConstant
history @5
info patterns
info passes
info folds
info cycles
break pattern:AddIAddConstant
watch @5
list
reverse-continue
reverse-step
skip
cursor-parent
goto #999
run
bogus
show
""",
        ),
    ),
    _scenario(
        "open-crash",
        line(f"actiondbg record -o crash.adbrec -- {CRASH}"),
        session("open crash.adbrec", "run\ninfo program\nreverse-step\nbacktrace\ninfo patterns"),
        line("actiondbg log crash.adbrec"),
    ),
)

QUERIES = (
    _scenario(
        "record",
        line(f"actiondbg record -- {FOLD}"),
        line(f"actiondbg record -- {FOLD} -o out.mlir"),
        line(f"actiondbg record -o run.adbrec --ir changed -- {FOLD} -o out.mlir"),
        line(f"actiondbg record -o run.adbrec -- {FOLD} -o out.mlir"),
        line(f"actiondbg record -q -o run.adbrec -- {FOLD} -o out.mlir"),
        line(f"actiondbg record -o broken.adbrec -- {NOT_CONVERGED}"),
        line("actiondbg record -o invalid.adbrec -- mlir-opt invalid.mlir"),
        line(f"actiondbg record -o fold.mlir -- {FOLD}"),
        line(f"actiondbg record -o - -- {FOLD}"),
        line(f"actiondbg record -o missing/run.adbrec -- {FOLD}"),
        line(f"actiondbg record --ir bogus -- {FOLD}"),
        line(f"actiondbg record --events bogus -- {FOLD}"),
        line("actiondbg record -- mlir-opt missing.mlir"),
        line("actiondbg record -- true"),
        line("actiondbg record -- no-such-tool"),
        line("actiondbg record"),
        line("ls"),
    ),
    _scenario(
        "log",
        line(RECORD),
        line("actiondbg log run.adbrec"),
        line("actiondbg log --changed run.adbrec"),
        line("actiondbg log --failed --filter 'pattern:AddISub*' run.adbrec"),
        line("actiondbg log --filter 'pattern:* if depth > 2' --filter pass:* run.adbrec"),
        line("actiondbg log --loc fold.mlir:8 --outcome succeeded,unchanged run.adbrec"),
        line("actiondbg log --outcome 'reason:There*' run.adbrec"),
        line("actiondbg log --json --changed run.adbrec"),
        line("actiondbg log -o run.log run.adbrec && wc -l < run.log"),
        line(f"actiondbg log --changed -- {FOLD}"),
        line(f"actiondbg log --changed --tool-stdout out.mlir -o run.log -- {FOLD}"),
        line("cat run.log out.mlir"),
        line(f"actiondbg log --upstream-format -- {FOLD}"),
        line("actiondbg log --upstream-format run.adbrec"),
        line("actiondbg log --tool-stdout out.mlir run.adbrec"),
        line("actiondbg log --outcome bogus run.adbrec"),
        line("actiondbg log --filter bogus:x run.adbrec"),
        line("actiondbg log --loc x run.adbrec"),
        line("actiondbg log --bogus run.adbrec"),
        line("actiondbg log missing.adbrec"),
        line("actiondbg log not-a-recording.adbrec"),
        line("actiondbg log -o missing/run.log run.adbrec"),
        line("actiondbg log"),
        line("actiondbg log -- true"),
        line("actiondbg log -- no-such-tool"),
    ),
    _scenario(
        "query",
        line(RECORD),
        line("actiondbg query run.adbrec"),
        line("actiondbg query run.adbrec 'select ordinal, tag, name, outcome, line from actions'"),
        line("actiondbg query run.adbrec 'select * exclude (run, started, agent) from runs'"),
        line("actiondbg query --format csv run.adbrec 'from changes'"),
        line("actiondbg query --format json run.adbrec 'from operations'"),
        line("actiondbg query run.adbrec 'from reasons' | head -3"),
        line("actiondbg query run.adbrec 'select ordinal, operation, \"when\" from ir'"),
        line("actiondbg query run.adbrec -", "select count(*) as n from actions"),
        line("actiondbg query -o out.csv run.adbrec 'select 1 as one' && cat out.csv"),
        line("actiondbg query -o out.parquet run.adbrec 'select 1 as one' && test -s out.parquet"),
        line("actiondbg query run.adbrec 'select 1 where false'"),
        line("actiondbg query run.adbrec 'select nosuch from actions'"),
        line("actiondbg query run.adbrec 'bogus'"),
        line("actiondbg query run.adbrec 'drop table actions'"),
        line("actiondbg query -o out.txt run.adbrec 'select 1'"),
        line("actiondbg query --format bogus run.adbrec 'select 1'"),
        line("actiondbg query missing.adbrec 'select 1'"),
        line("actiondbg query not-a-recording.adbrec 'select 1'"),
        line("actiondbg query"),
        line("actiondbg export --parquet bucket run.adbrec; ls bucket/*"),
        line("actiondbg query bucket 'select count(*) as n from actions'"),
        line("actiondbg query run.adbrec bucket 'select count(*) as n from actions'"),
        line("actiondbg export run.adbrec"),
        line("actiondbg export --parquet bucket missing.adbrec"),
        line("actiondbg export --parquet bucket not-a-recording.adbrec"),
        line("actiondbg export --parquet fold.mlir run.adbrec"),
        line("actiondbg export"),
    ),
    _scenario(
        "damaged-recording",
        line(RECORD),
        line("head -c 900 run.adbrec > cut.adbrec"),
        line("actiondbg query cut.adbrec 'select count(*) as n from actions'"),
        line("actiondbg query --partial cut.adbrec 'select count(*) as n from actions'"),
        line("actiondbg log cut.adbrec"),
        line("actiondbg open --batch -nx -ex run cut.adbrec"),
        # A bit in the middle is flipped.
        line(
            'python -c \'b = bytearray(open("run.adbrec", "rb").read()); b[len(b) // 2] ^= 1; '
            'open("bent.adbrec", "wb").write(b)\''
        ),
        line("actiondbg query bent.adbrec 'select count(*) as n from actions'"),
        line("actiondbg query --partial bent.adbrec 'select count(*) as n from actions'"),
        line("actiondbg log bent.adbrec | head -3"),
        line("actiondbg log --partial bent.adbrec | head -3"),
        line("actiondbg open --batch -nx -ex run bent.adbrec"),
        line("actiondbg open --batch -nx --partial -ex run bent.adbrec"),
        line("actiondbg trace -o run.json bent.adbrec"),
        line("actiondbg report bent.adbrec"),
        line("actiondbg stat --sort name bent.adbrec", squeezed=True),
        line("actiondbg stat --sort name --partial bent.adbrec", squeezed=True),
        line("actiondbg export --parquet bucket bent.adbrec"),
        line(": > empty.adbrec; actiondbg query empty.adbrec 'select 1'"),
        line("actiondbg open --batch -nx -ex run empty.adbrec"),
    ),
    _scenario(
        "stat",
        line(RECORD),
        line("actiondbg stat --sort name run.adbrec", squeezed=True),
        line("actiondbg stat --self --sort name --limit 1 run.adbrec", squeezed=True),
        line(
            "actiondbg stat --sort name --csv raw run.adbrec; head -1 raw/samples.csv",
            squeezed=True,
        ),
        line(f"actiondbg stat --events none --sort name -- {FOLD}", squeezed=True),
        line("actiondbg stat --name 'NoSuch*' run.adbrec"),
        line("actiondbg stat --sort bogus run.adbrec"),
        line("actiondbg stat --buckets 1 run.adbrec"),
        line("actiondbg stat --limit -1 run.adbrec"),
        line("actiondbg stat --plot x.png run.adbrec"),
        line("actiondbg stat --events default run.adbrec"),
        line(f"actiondbg stat --events bogus -- {FOLD}"),
        line("actiondbg stat missing.adbrec"),
        line("actiondbg stat not-a-recording.adbrec"),
        line("actiondbg stat"),
        line("actiondbg stat -- true"),
    ),
    _scenario(
        "trace",
        line(RECORD),
        line("actiondbg trace -o run.json run.adbrec"),
        line("cat run.json"),
        line("actiondbg trace -q -o keep.json --failed keep --filter 'func:shift' run.adbrec"),
        line('grep -c \'"ph":"X"\' keep.json'),
        line("actiondbg trace -o run.pftrace --failed drop run.adbrec"),
        line(f"actiondbg trace -o tool.tracy.json.gz -- {FOLD}"),
        line("actiondbg trace -o run.txt run.adbrec"),
        line("actiondbg trace -o run.json --min-duration x run.adbrec"),
        line("actiondbg trace -o run.json --format bogus run.adbrec"),
        line("actiondbg trace -o run.json --filter bogus:x run.adbrec"),
        line("actiondbg trace -o missing/run.json run.adbrec"),
        line("actiondbg trace -o run.json missing.adbrec"),
        line("actiondbg trace -o run.json not-a-recording.adbrec"),
        line("actiondbg trace run.adbrec"),
        line("actiondbg trace -o run.json -- true"),
    ),
    _scenario(
        "report",
        line(RECORD),
        line("actiondbg report run.adbrec && ls"),
        line("actiondbg report -q -o r.html run.adbrec && ls"),
        line(f"actiondbg report -o tool.html -- {FOLD} -o out.mlir"),
        line("actiondbg report --ir changed run.adbrec"),
        line("actiondbg report --size 0.1 run.adbrec"),
        line("actiondbg report -o missing/r.html run.adbrec"),
        line("actiondbg report -o . run.adbrec"),
        line("actiondbg report missing.adbrec"),
        line("actiondbg report not-a-recording.adbrec"),
        line("actiondbg report"),
        line("actiondbg report -- true"),
    ),
)

_TEST = "--test 'grep -q \"constant 2\" {}'"
BISECTIONS = (
    _scenario(
        "bisect-test",
        line(f"actiondbg bisect {_TEST} -o found -- {FOLD}"),
        line("cat found/report.md"),
        line("cat found/session.adb found/before.mlir found/after.mlir"),
        line("cat found/repro.sh"),
        line("sh found/repro.sh"),
        line(f"actiondbg bisect --json {_TEST} -o again -- {FOLD}"),
    ),
    _scenario(
        "bisect-oracles",
        line(f"actiondbg bisect --filecheck checks.mlir -o checked -- {FOLD}"),
        line(f"actiondbg bisect --crash -o crash -- {CRASH}"),
        line(f"actiondbg bisect --diagnostic '*not bufferized*' -o diagnostic -- {TENSOR}"),
        line(f"actiondbg bisect --test true -o good -- {FOLD}"),
        line(f"actiondbg bisect --test false -o bad -- {FOLD}"),
        line(f"actiondbg bisect --test 'exit 125' -o untestable -- {FOLD}"),
        line(f"actiondbg bisect --test 'exit 127' -o error -- {FOLD}"),
        line("ls"),
    ),
    _scenario(
        "bisect-modes",
        line(f"actiondbg bisect --mode minimize {_TEST} -o minimize -- {FOLD}"),
        line(f"actiondbg bisect --mode skip {_TEST} -o skip -- {FOLD}"),
        line(f"actiondbg bisect --tag fold {_TEST} -o fold -- {FOLD}"),
        line(f"actiondbg bisect --always canonicalize {_TEST} -o always -- {FOLD}"),
        line(f"actiondbg bisect --reduce {_TEST} -o reduced -- {FOLD}"),
        line("ls reduced"),
    ),
    _scenario(
        "bisect-miscompile",
        line(
            "actiondbg bisect --test 'miscompiles/while-if.test {}' -- "
            "mlir-opt miscompiles/while-if.mlir --canonicalize"
        ),
        line(
            "actiondbg bisect --compare -o compared -- "
            "mlir-opt miscompiles/while-if.mlir --canonicalize"
        ),
    ),
    _scenario(
        "bisect-errors",
        line("actiondbg bisect"),
        line(f"actiondbg bisect -- {FOLD}"),
        line(f"actiondbg bisect --test true --crash -- {FOLD}"),
        line(f"actiondbg bisect --crash --entry f -- {FOLD}"),
        line(f"actiondbg bisect --mode bogus --crash -- {FOLD}"),
        line(f"actiondbg bisect --crash -j 0 -- {FOLD}"),
        line(f"actiondbg bisect --crash --timeout x -- {FOLD}"),
        line(f"actiondbg bisect --crash --bogus -- {FOLD}"),
        line(f"actiondbg bisect --filecheck missing.mlir -- {FOLD}"),
        line(f"actiondbg bisect --crash -o fold.mlir -- {FOLD}"),
        line(f"actiondbg bisect --crash --resume -o none -- {FOLD}"),
        line("actiondbg bisect --crash -- no-such-tool in.mlir"),
        line("actiondbg bisect --crash -- true"),
    ),
)

COMMAND_LINE = (
    _scenario(
        "command-line-help",
        line("actiondbg --help", literal=True),
        *(line(f"actiondbg {name} --help", literal=True) for name in SUBCOMMANDS),
    ),
    _scenario(
        "command-line-errors",
        line("actiondbg"),
        line("actiondbg --bogus"),
        line("actiondbg --version"),
        line("actiondbg --version mlir-opt"),
        line("actiondbg --batch -ex run no-such-tool"),
        line("actiondbg --batch -ex run ./fold.mlir"),
        line("actiondbg --batch -ex run -- true"),
        line("actiondbg --batch -ex run -- /bin/sh -c true"),
        line("actiondbg --batch -ex run mlir-opt missing.mlir"),
        line("actiondbg --batch --return-child-result -ex run mlir-opt missing.mlir"),
        line("actiondbg --batch -ex run mlir-opt invalid.mlir"),
        line(f"actiondbg --batch -x missing.adbg {FOLD}"),
        line(f"actiondbg --batch -ex run --mlir-include missing {FOLD}"),
        line(f"actiondbg --batch --tool-stdout missing/out -ex run {FOLD}"),
        line(f"actiondbg --batch {FOLD}"),
        line("actiondbg open"),
        line("actiondbg open missing.adbrec"),
        line("actiondbg open not-a-recording.adbrec"),
        line("actiondbg open --bogus run.adbrec"),
        line("actiondbg open fold.mlir extra"),
    ),
)

SCENARIOS = (*COMMAND_LINE, *SHELL, *JSON, *RECORDINGS, *QUERIES, *BISECTIONS)
