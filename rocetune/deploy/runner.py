"""Concurrency with a limit and a brake: a Nornir runner that stops handing out devices when told to.

Nornir's own threaded runner queues every host at once, so an interrupt finds them all already submitted.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import FrameType

from nornir.core.inventory import Host
from nornir.core.task import AggregatedResult, MultiResult, Task


class CancelRunner:
    """Runs a task with at most ``workers`` devices at a time until all are done or ``cancel`` is set.

    Devices never started are absent from the result; those at work are waited for, because a transaction cut in the
    middle is the thing to avoid.
    """

    def __init__(self, workers: int, cancel: threading.Event) -> None:
        self._workers, self._cancel = max(1, workers), cancel

    def run(self, task: Task, hosts: Sequence[Host]) -> AggregatedResult:
        """Nornir's runner interface."""
        result = AggregatedResult(task.name)
        waiting = list(reversed(hosts))
        at_work: set[Future[MultiResult]] = set()
        pool = ThreadPoolExecutor(min(self._workers, max(1, len(waiting))))
        try:
            while at_work or (waiting and not self._cancel.is_set()):
                while waiting and len(at_work) < self._workers and not self._cancel.is_set():
                    at_work.add(pool.submit(task.copy().start, waiting.pop()))
                at_work -= self._settle(at_work, result)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return result

    def _settle(self, at_work: set[Future[MultiResult]], result: AggregatedResult) -> set[Future[MultiResult]]:
        done, _ = wait(at_work, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            answer = future.result()
            if answer.host is not None:
                result[answer.host.name] = answer
        return done


@contextmanager
def brake(cancel: threading.Event) -> Iterator[None]:
    """Inside, the first SIGINT or SIGTERM sets ``cancel`` and devices at work finish; a second one leaves at once.

    Timers on the devices then undo what was not confirmed. Outside the main thread signals are left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def pressed(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    before = {number: signal.signal(number, pressed) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
