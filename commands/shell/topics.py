"""The topics of the shell, in order; ``python -m`` prints the tables of docs/commands.md."""

from __future__ import annotations

import sys

from actiondbg.commands.interpreter.declaration import CommandTable
from actiondbg.commands.interpreter.help import tables
from actiondbg.commands.shell.bisection import BISECTION
from actiondbg.commands.shell.breakpoints import BREAKPOINTS, DISPLAYS
from actiondbg.commands.shell.controls import RUNNING
from actiondbg.commands.shell.ir import CURSOR, PRINTING
from actiondbg.commands.shell.past import PAST
from actiondbg.commands.shell.scripts import SCRIPTS
from actiondbg.commands.shell.stack import STACK
from actiondbg.commands.shell.status import STATUS
from actiondbg.commands.shell.time_travel import TIME_TRAVEL
from actiondbg.commands.shell.whatif import WHATIF

# The order of help and of docs/commands.md.
TOPICS = (
    *(RUNNING, BREAKPOINTS, STACK, PRINTING, DISPLAYS, CURSOR, PAST, STATUS),
    *(TIME_TRAVEL, WHATIF, BISECTION, SCRIPTS),
)
COMMANDS = CommandTable(TOPICS)

if __name__ == "__main__":
    sys.stdout.write(tables(COMMANDS))
