"""The options of the tool's runs: verification, counting, crashes, checkpoints, addresses."""

from __future__ import annotations

from typing import Any

from actiondbg import protocol
from actiondbg.errors import UsageError
from actiondbg.process.tool_process import LaunchOptions
from actiondbg.session.executions import Executions

_NO_CHECKPOINTS = protocol.CheckpointOptions(socket="", milliseconds=0, megabytes=0)


class AgentSetting:
    """A setting of the agent, a field of ``SetOptions``; a stopped tool gets a change at once."""

    def __init__(self, field: str, default: bool) -> None:
        self.field = field
        self._default = default

    def __get__(self, options: AgentOptions | None, owner: type) -> bool:
        return self._default if options is None else options.settings.get(self.field, self._default)

    def __set__(self, options: AgentOptions, on: bool) -> None:
        changed: dict[str, Any] = {self.field: on}
        options.send(protocol.SetOptions(**changed))
        options.settings[self.field] = on


class AgentOptions:
    """Settings of the agent, sent to a stopped tool and at each start; and the address layout.

    Changing a setting of the agent raises NotStopped while the tool runs.

    Attributes:
        verify_each_action: whether the IR is verified after every action; the tool stops when it
            is invalid.
        count_actions: whether actions are counted as they run; otherwise a replay counts them.
        stop_on_crash: whether the tool stops where it crashes, before its own handler of the
            signal runs.
        threads_wait: whether other threads wait at their next action while one is at a stop;
            otherwise they run on: their actions are counted, and stop nowhere.
    """

    verify_each_action = AgentSetting("verify_each_action", False)
    count_actions = AgentSetting("count", False)
    stop_on_crash = AgentSetting("stop_on_crash", True)
    threads_wait = AgentSetting("threads_wait", True)

    def __init__(self, executions: Executions) -> None:
        self._executions = executions
        self.settings: dict[str, bool] = {}  # those that were changed
        self._milliseconds = 50
        self._megabytes = 1024

    @property
    def disable_randomization(self) -> bool:
        """Whether the tool's addresses are the same in each run, from the next start on."""
        return not self._executions.program.randomize

    @disable_randomization.setter
    def disable_randomization(self, on: bool) -> None:
        self._executions.program.randomize = not on

    @property
    def follow(self) -> str:
        """A glob of the processes of a program to debug, from the next start on; see ``launch``."""
        return self._executions.program.follow or "*"

    @follow.setter
    def follow(self, glob: str) -> None:
        self._executions.program.follow = None if glob == "*" else glob

    @property
    def checkpoint_spacing(self) -> int:
        """Milliseconds of run time between two automatic checkpoints; 0 for none."""
        return self._milliseconds

    @checkpoint_spacing.setter
    def checkpoint_spacing(self, milliseconds: int) -> None:
        if milliseconds < 0:
            raise UsageError(f"Checkpoint spacing must be at least 0 ms, got {milliseconds}.")
        self._freeze(milliseconds, self._megabytes)

    @property
    def checkpoint_memory(self) -> int:
        """The limit in megabytes for the private memory of automatic checkpoints."""
        return self._megabytes

    @checkpoint_memory.setter
    def checkpoint_memory(self, megabytes: int) -> None:
        if megabytes < 1:
            raise UsageError(f"Checkpoint memory must be at least 1 MB, got {megabytes}.")
        self._freeze(self._milliseconds, megabytes)

    def message(self) -> protocol.SetOptions:
        """Return the request that sets the options of the tool."""
        return protocol.SetOptions(
            verify_each_action=self.verify_each_action,
            count=self.count_actions,
            stop_on_crash=self.stop_on_crash,
            threads_wait=self.threads_wait,
        )

    def scout_message(self, verifies: bool) -> protocol.SetOptions:
        """Return the request that sets the options of a scout; ``verifies``: as the tool does."""
        return protocol.SetOptions(
            verify_each_action=self.verify_each_action and verifies,
            count=False,
            checkpoints=_NO_CHECKPOINTS,
        )

    def launch(
        self,
        resume: protocol.Resume,
        breakpoints: list[protocol.WireBreakpoint],
        skips: protocol.SetSkips | None = None,
    ) -> LaunchOptions:
        """Return the options of a new execution."""
        return LaunchOptions(
            resume=resume,
            breakpoints=breakpoints,
            options=self.message(),
            skips=skips,
            milliseconds=self._milliseconds,
            megabytes=self._megabytes,
        )

    def freeze_current(self) -> None:
        """Have the stopped tool make automatic checkpoints."""
        self._executions.need().freeze(self._milliseconds, self._megabytes)

    def _freeze(self, milliseconds: int, megabytes: int) -> None:
        self._executions.check_idle("options")
        if self._executions.current is not None:
            self._executions.current.freeze(milliseconds, megabytes)
        self._milliseconds, self._megabytes = milliseconds, megabytes

    def send(self, options: protocol.SetOptions) -> None:
        """Send options to a stopped tool; raise NotStopped while it runs."""
        self._executions.check_idle("options")
        if self._executions.state == "stopped":
            self._executions.ask(options)
