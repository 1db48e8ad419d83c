"""Ctrl-C and SIGTERM as a counter, so that a job can finish what is in flight before it stops."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def count_interrupts() -> Iterator[list[int]]:
    """Yield a list of signals that grows with every Ctrl-C; the third one raises KeyboardInterrupt.

    SIGTERM counts as two: a batch system that sends it kills the job soon after, and sends no
    second one. Outside the main thread, or where a signal is ignored, the list stays empty.
    """
    signals: list[int] = []
    received = 0

    def handle(number: int, frame: object) -> None:
        nonlocal received
        del frame
        received += 1
        signals.extend([number] * (2 if number == signal.SIGTERM else 1))
        if received > 2:
            raise KeyboardInterrupt

    in_main_thread = threading.current_thread() is threading.main_thread()
    before = {
        number: signal.signal(number, handle)
        for number in (signal.SIGINT, signal.SIGTERM)
        if in_main_thread and signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
