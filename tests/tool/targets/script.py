"""A session that uses every kind of command, and what it prints, which is alike in all ways."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.paths import COMMAND

SESSION = """\
break pattern:AddIAddConstant
break fold:arith.* if depth > 1 and line == 8
run
info action
backtrace
context
print
print function
print --generic cursor
info cursor
cursor-parent
cursor-child 0
cursor-defs
cursor-users
cursor-function
cursor-goto action
around 3
continue
next
info outcome
info changes
diff
finish
info changes --count 3
delete all
start
step
step 3
next
next-change
info changes
why-not AddIAddConstant
history cursor
info actions --count 12
info pipeline
goto #5
reverse-step
goto #11
skip
goto #11
apply
info timeline
watch op:arith.addi count
goto #1
continue
catch diagnostic
delete all
break-on-tag pass-execution
continue
count op:arith.*
list @9
reverse-continue
advance #14
reverse-finish
info folds arith.* --sort attempts
info patterns AddI*
"""


def scripted(session: str, argv: list[str]) -> list[str]:
    """Return the lines that a session prints, without durations and the columns that they widen."""
    Path("script").write_text(session)
    done = subprocess.run(
        [COMMAND, "-nx", "--batch", "--keep-going", "-x", "script", "--", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return [
        re.sub(r"^ +", "", re.sub(r" +", " ", re.sub(r"[\d.]+ ms", "T", line)))
        for line in done.stdout.splitlines()
    ]
