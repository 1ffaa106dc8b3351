"""Recordings: how they are made, opened, queried and exported."""

from __future__ import annotations

from scenarios.scenario import (
    CRASH,
    FOLD,
    NOT_CONVERGED,
    OPEN,
    RECORD,
    RECORD_PLAIN,
    json_session,
    line,
    scenario,
    session,
)

_CANONICALIZE = "mlir-opt fold.mlir --canonicalize"

RECORDINGS = (
    scenario(
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
info actions --count 4
info pipeline
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
    scenario(
        "open-without-ir",
        line(RECORD_PLAIN),
        session("open plain.adbrec", "goto #11\nprint\nprint function\ndiff\nhistory @5\nstep"),
        line("actiondbg open --batch -nx -ex run plain.adbrec"),
        line("actiondbg open --batch -nx -ex bogus -ex list plain.adbrec"),
    ),
    scenario(
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
    scenario(
        "open-crash",
        line(f"actiondbg record -o crash.adbrec -- {CRASH}"),
        session("open crash.adbrec", "run\ninfo program\nreverse-step\nbacktrace\ninfo patterns"),
        line("actiondbg log crash.adbrec"),
    ),
)

QUERIES = (
    scenario(
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
    scenario(
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
    scenario(
        "compare",
        line(f"actiondbg compare '{_CANONICALIZE}' '{_CANONICALIZE} --cse'"),
        line(f"actiondbg compare '{_CANONICALIZE}' 'mlir-opt fold.mlir --cse'"),
        line(f"actiondbg compare --tool no-such-tool -- {_CANONICALIZE}"),
        line(f"actiondbg compare '{_CANONICALIZE}' 'mlir-opt fold.mlir --no-such-option'"),
        line(RECORD),
        line("actiondbg compare run.adbrec run.adbrec"),
        line("actiondbg compare run.adbrec fold.mlir"),
        line("actiondbg compare . run.adbrec"),
        line("actiondbg compare run.adbrec"),
        line("actiondbg compare"),
    ),
    scenario(
        "lint",
        line("actiondbg lint -- mlir-opt fold.mlir --canonicalize"),
        line("actiondbg lint --rerun -- mlir-opt fold.mlir --canonicalize"),
        line(RECORD),
        line("actiondbg lint run.adbrec"),
        line("actiondbg lint --rule dead-pass --format junit run.adbrec"),
        line("actiondbg lint --rule nothing run.adbrec"),
        line("actiondbg lint --baseline run.adbrec run.adbrec"),
        line("actiondbg lint -o run.adbrec run.adbrec"),
        line("actiondbg lint -- true"),
        line("actiondbg lint"),
    ),
    scenario(
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
    scenario(
        "import",
        line(f"{FOLD} --cse --mlir-print-ir-before-all --mlir-print-ir-after-all 2> passes.log"),
        line("actiondbg import passes.log"),
        line("actiondbg log passes.adbrec"),
        line("actiondbg query passes.adbrec 'select name, outcome, changed, self_ns from actions'"),
        session(
            "open passes.adbrec", "next\ndiff\ninfo passes\nprint module\nhistory @2\ncontinue"
        ),
        session("open passes.adbrec", "why-not AddIAddConstant"),
        line("actiondbg stat passes.adbrec"),
        line("actiondbg trace -o passes.json passes.adbrec"),
        line("actiondbg report -q -o passes.html passes.adbrec && test -s passes.html"),
    ),
    scenario(
        "import-errors",
        line("actiondbg import"),
        line("actiondbg import missing.log"),
        line("actiondbg import fold.mlir"),
        line(": > empty.log; actiondbg import empty.log"),
        line("mkdir folder; actiondbg import folder"),
        line("actiondbg import -"),
        line("actiondbg import fold.mlir -o fold.mlir"),
        line(f"{FOLD} --mlir-print-ir-after-all 2> passes.log; head -c 200 passes.log > cut.log"),
        line("actiondbg import cut.log -o cut.adbrec"),
        line("actiondbg import passes.log; actiondbg import passes.adbrec"),
    ),
    scenario(
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
        line("actiondbg report --filter bogus:x bent.adbrec"),
        line("actiondbg stat --sort name bent.adbrec", squeezed=True),
        line("actiondbg stat --sort name --partial bent.adbrec", squeezed=True),
        line("actiondbg export --parquet bucket bent.adbrec"),
        line(": > empty.adbrec; actiondbg query empty.adbrec 'select 1'"),
        line("actiondbg open --batch -nx -ex run empty.adbrec"),
    ),
    scenario(
        "stat",
        line(RECORD),
        line("actiondbg stat --sort name run.adbrec", squeezed=True),
        line("actiondbg stat --self --sort name --limit 1 run.adbrec", squeezed=True),
        line("actiondbg stat --sort name --filter pass:* run.adbrec", squeezed=True),
        line("actiondbg stat --filter bogus:x run.adbrec"),
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
    scenario(
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
    scenario(
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
