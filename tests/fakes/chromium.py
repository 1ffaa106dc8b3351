"""Headless Chromium, controlled over a pipe by its DevTools protocol."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE = 60.0  # s for one answer

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A page in a Chromium process of its own; a context manager."""

    def __init__(self, program: str) -> None:
        self._directory = tempfile.mkdtemp(prefix="actiondbg-browser-")
        self.errors: list[str] = []  # errors, warnings and exceptions of the page
        self._count = 0
        self._read = b""
        self._pid = self._start(program)
        targets = self.command("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self.command("Target.attachToTarget", targetId=page, flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.command(f"{domain}.enable")

    def _start(self, program: str) -> int:
        self._session = None
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        # The numbers that it expects may be taken: by one of these four, too.
        high = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 20) for one in (theirs_in, theirs_out)]
        words = [
            program,
            "--headless",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--no-first-run",
            f"--user-data-dir={self._directory}",
            "about:blank",
        ]
        quiet = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
        ends = [(os.POSIX_SPAWN_DUP2, high[0], 3), (os.POSIX_SPAWN_DUP2, high[1], 4)]
        pid = os.posix_spawn(program, words, os.environ, file_actions=[*ends, quiet], setpgroup=0)
        for one in (theirs_in, theirs_out, *high):
            os.close(one)
        return pid

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._to)
        os.close(self._from)
        os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        shutil.rmtree(self._directory, ignore_errors=True)

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; events that arrive meanwhile are recorded."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._listen(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            chunk = os.read(self._from, 1 << 20)
            assert chunk, "The browser is gone."
            self._read += chunk
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)

    def _listen(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", str(details)))
        elif event["method"] == "Runtime.consoleAPICalled" and told["type"] != "log":
            self.errors.append(str(told["args"]))
        elif event["method"] == "Log.entryAdded":
            self.errors.append(str(told["entry"]))

    def open(self, path: Path) -> None:
        """Open a page, and wait until its scripts have run."""
        self.command("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while self.run("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < end, "The page does not load."
            time.sleep(0.01)

    def run(self, script: str) -> Any:
        """Return the value of an expression of JavaScript; raises if it throws."""
        told = self.command(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def press(self, key: str, **more: Any) -> None:
        """Press and release a key, as a user does."""
        text = {"text": key} if len(key) == 1 else {}
        self.command("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **more)
        self.command("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def click(self, selector: str) -> None:
        """Click into the middle of an element, as a user does."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.command(
                "Input.dispatchMouseEvent",
                type=kind,
                x=place[0],
                y=place[1],
                button="left",
                clickCount=1,
            )

    def resize(self, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Set the size of the window, and light or dark mode."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def screenshot(self, *, whole: bool = False, **options: Any) -> bytes:
        """Return a PNG of the window, or of the whole page."""
        told = self.command("Page.captureScreenshot", captureBeyondViewport=whole, **options)
        return base64.b64decode(told["data"])
