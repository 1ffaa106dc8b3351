"""``actiondbg`` and ``python -m actiondbg``: the command line."""

import signal
import sys

# Until the command line handles Ctrl-C it ends the process, as an exception within an import would
# print a traceback. There is nothing to clean up yet.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> int:
    """Run the command line; return the exit code."""
    from actiondbg.cli import main as run

    code = run()
    if callable(signal.getsignal(signal.SIGINT)):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # as above, while the interpreter ends
    return code


if __name__ == "__main__":
    sys.exit(main())
