"""``python -m actiondbg`` is ``actiondbg``."""

import sys

from actiondbg.cli import main

if __name__ == "__main__":
    sys.exit(main())
