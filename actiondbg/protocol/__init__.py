"""The breakpoint-controller protocol: types, messages, codec and client (docs/protocol.md).

May import: errors, support. The names are those of the modules below.
"""

from __future__ import annotations

from actiondbg.protocol.messages import *  # noqa: F403
from actiondbg.protocol.notifications import *  # noqa: F403  # noqa: F403
from actiondbg.protocol.types import *  # noqa: F403
