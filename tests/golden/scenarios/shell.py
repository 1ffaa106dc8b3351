"""Sessions of the shell over a tool, in text."""

from __future__ import annotations

from scenarios.scenario import CRASH, CSE, FOLD, NOT_CONVERGED, TENSOR, VECTOR  # isort: skip
from scenarios.scenario import line, scenario, session

SHELL = (
    scenario(
        "shell-help",
        session(
            FOLD,
            "help\nhelp run\nhelp info\nhelp info patterns\nhelp whatif\nhelp cursor\n"
            "help tasks\nhelp spec\nhelp expr\nhelp bogus\nhelp info bogus\nh break\n?step",
            literal=True,
        ),
    ),
    scenario(
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
info processes
info contexts
info threads
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
    scenario(
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
advance --outcome failed pattern:*
until --after fold:*
start
u fold:* if depth > 1
tbreak #11
continue
skip
start
advance bogus:x
advance
until
advance --outcome skipped pattern:AddIAddConstant
start
advance pattern:AddIAddConstant
next-success
ns tag:no-such
start
next-change 100
next-change
""",
        ),
    ),
    scenario(
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
    scenario(
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
    scenario(
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
cursor-goto %x
cursor-goto %nosuch
around 2
around 2
source-lines 1
source-lines
list @2
list nowhere
print %once
print @shift --skip-regions
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
    scenario(
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
info actions
info pipeline
start
diff
info outcome
info patterns
advance #11
why-not AddIAddConstant
history @5
next
diff
info actions --count 4
info pipeline
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
validate
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
info actions --count 4
info actions --changed
info actions pattern:AddI* if line == 8 --from #12
info actions pattern:NoSuch
info actions --from #99
info pipeline
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
    scenario(
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
    scenario(
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
native
step
reverse-step
info timeline
continue
continue
""",
        ),
        line("ls -R; cat actiondbg-reproducers/*.mlir"),
        session(
            CRASH,
            "set stop-on-crash off\nrun\ninfo program\nbacktrace\nreverse-step\nbacktrace",
        ),
    ),
    scenario(
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
set skip pattern:AddIAddConstant if line == 8
set skip pattern:
set skip op:arith.* if hits > 3
show skip
run > ruled.mlir
goto #11
apply
info timeline
save skips rules.skips
!cat rules.skips
delete skip 7
delete skip all
show skip
load skips rules.skips
load skips missing.skips
load skips fold.mlir
load skips
load bogus x
""",
        ),
        session(FOLD, "run\ninfo timeline", "--skips my.skips"),
        session(FOLD, "run", "--skips missing.skips"),
    ),
    scenario(
        "shell-explain",
        session(
            VECTOR,
            """\
catch failure
start
explain
explain op:arith.muli
continue
explain
explain --all
explain @3
explain op:nothing.*
explain op:
explain nonsense
continue
explain
""",
        ),
    ),
    scenario(
        "shell-edits",
        session(
            CRASH,
            """\
set reproducer-directory off
edit-ir
info edits
start
info edits
save edits none.edits
edit-ir
edit-ir --from missing.mlir
print module > same.mlir
edit-ir module --from same.mlir
apply-pass
apply-pass 'no-such-pass'
apply-pass 'cse,no-such-pass'
apply-pass 'canonicalize'
apply-pass 'canonicalize'
undo-edit
goto #12
print module > wide.mlir
!sed -i 's/4xi1/4xi8/' wide.mlir
edit-ir module --from wide.mlir
!sed -i 's/memref.store %arg1/%w = arith.extui %arg1 : i1 to i8 memref.store %w/' wide.mlir
edit-ir module --from wide.mlir
info edits
info timeline
save edits wide.edits
!cat wide.edits
step
edit-ir
apply-pass 'cse'
continue
undo-edit
undo-edit
load edits wide.edits
load edits crash.mlir
load edits missing.edits
load edits
run
""",
        ),
        session(CRASH, "run\ninfo timeline", "--edits wide.edits"),
        session(FOLD, "run\ncontinue", "--edits wide.edits"),
    ),
    scenario(
        "shell-displays-and-settings",
        session(
            FOLD,
            """\
display
info displays
info frame
show args
set args fold.mlir --canonicalize > out
set args fold.mlir --canonicalize
show args
show version
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
    scenario(
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
help bp
macro delete bp
edit
layout ir
tui enable
tui disable
tui
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
    scenario(
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
    scenario(
        "shell-whatif",
        session(
            CSE,
            """\
whatif drop cse
start
whatif pattern:AddIAddConstant off; drop cse; append 'convert-arith-to-llvm' --all
whatif diff 1
whatif diff 2
whatif diff 9
whatif drop canonicalize and benefit AddIAddConstant 3 --diff --test 'grep -q "constant 2" {}'
whatif pattern:AddIAddConstant off --until canonicalize
whatif drop csse
whatif append 'affine-loop-tile'
whatif append nonsense
whatif pattern:AddIAddConstant
whatif
info applicable --patterns
info applicable | tail -n 1
break #11
continue
info applicable
""",
        ),
    ),
)
