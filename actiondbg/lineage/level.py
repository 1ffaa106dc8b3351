"""The levels of units that answer for operations; imported where start-up time counts."""

from __future__ import annotations

from typing import Literal

Level = Literal["operation", "loop", "function", "dispatch"]
