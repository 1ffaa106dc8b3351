"""Sessions of the shell over a tool, in JSON."""

from __future__ import annotations

from scenarios.scenario import (
    CRASH,
    FOLD,
    MIXED,
    NOT_CONVERGED,
    TENSOR,
    json_session,
    line,
    scenario,
)

JSON = (
    scenario(
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
    scenario(
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
    scenario(
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
info contexts
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
    scenario(
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
    scenario(
        "json-events",
        json_session(CRASH, "catch crash\nrun\ncontinue\ninfo program"),
        json_session(CRASH, "set stop-on-crash off\nrun\nstep"),
        json_session(TENSOR, "catch diagnostic\nrun\ncontinue"),
        json_session(NOT_CONVERGED, "catch nonconvergence\nrun\ncontinue"),
        line(f"actiondbg --json --batch -ex start -ex bogus -ex list {FOLD}"),
        line(f"actiondbg --json --batch -x failing.adbg {FOLD}"),
        line(f"actiondbg --json --batch --tool-stdout tool.txt -ex run {FOLD} && cat tool.txt"),
        line(f"actiondbg --json --batch --return-child-result -ex run {NOT_CONVERGED}"),
    ),
    scenario(
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
    scenario(
        "json-bisect",
        json_session(
            FOLD,
            "bisect --test 'grep -q \"constant 2\" {}' -o found\n"
            "bisect --crash -o crash\nbisect --test\nbisect",
        ),
    ),
)
