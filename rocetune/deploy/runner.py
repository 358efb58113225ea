"""Concurrency with a limit and a brake: a Nornir runner that stops handing out devices when told to.

Nornir's own threaded runner queues every host at once, so an interrupt finds them all already submitted.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from nornir.core.inventory import Host
from nornir.core.task import AggregatedResult, MultiResult, Task


class CancelRunner:
    """Runs a task with at most ``workers`` devices at a time until all are done or ``cancel`` is set.

    Devices never started are absent from the result. Ctrl-C sets ``cancel`` and waits for those at work, because
    a transaction cut in the middle is the thing to avoid; a second Ctrl-C leaves at once (timers on the devices
    then undo what was not confirmed).
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
        try:
            done, _ = wait(at_work, timeout=0.5, return_when=FIRST_COMPLETED)
        except KeyboardInterrupt:
            if self._cancel.is_set():
                raise
            self._cancel.set()
            return set()
        for future in done:
            answer = future.result()
            if answer.host is not None:
                result[answer.host.name] = answer
        return done
