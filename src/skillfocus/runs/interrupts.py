"""Ctrl-C as a counter, so that a job can finish what is in flight before it stops."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def count_interrupts() -> Iterator[list[int]]:
    """Yield a list that grows with every Ctrl-C; the third one raises KeyboardInterrupt.

    Outside the main thread, or where Ctrl-C is ignored, the list stays empty.
    """
    signals: list[int] = []

    def handle(number: int, frame: object) -> None:
        del frame
        signals.append(number)
        if len(signals) > 2:
            raise KeyboardInterrupt

    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield signals
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield signals
    finally:
        signal.signal(signal.SIGINT, before)
