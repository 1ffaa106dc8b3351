"""A second Ctrl-C, which stops a tool inside an action."""

from __future__ import annotations

import threading

import actiondbg


def stop_inside(session: actiondbg.Session) -> actiondbg.Stop:
    """Continue, and interrupt the tool until it stops."""
    over = threading.Event()

    def interrupt() -> None:
        while not over.wait(0.05):
            session.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        return session.continue_()
    finally:
        over.set()
        thread.join()
