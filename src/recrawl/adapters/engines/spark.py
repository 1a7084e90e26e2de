"""Tasks on Spark, one job of one task each, so that a task that fails fails alone.

The session is the one that is there, or one by Spark's own configuration (`spark-submit`,
`spark-defaults.conf`); without any, Spark runs on this machine alone. recrawl must be installed
where tasks run.

Touches: processes, a cluster.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recrawl.adapters.engines.outcomes import Outcome
from recrawl.errors import MissingExtra, MissingProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recrawl.adapters.engines import Engine

_QUIET = {"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}


@contextmanager
def spark_engine() -> Iterator[Engine]:
    """Spark, started if need be; tasks that are not done at the end are cancelled."""
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("--engine spark", "spark") from None

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers take the system's
    mine = SparkSession.getActiveSession() is None
    try:
        session = SparkSession.builder.appName("recrawl").config(map=_QUIET).getOrCreate()
    except PySparkRuntimeError:
        raise MissingProgram("--engine spark needs Java 17 or newer, which did not start") from None
    context = session.sparkContext
    pool = ThreadPoolExecutor(2 * context.defaultParallelism)  # one more waits for each that runs

    def run(work: Callable[[Any], Outcome], tasks: Sequence[Any]) -> Iterator[tuple[int, Outcome]]:
        def job(task: Any) -> Outcome:  # noqa: ANN401 - what the function takes
            try:
                outcome: Outcome = context.parallelize([task], 1).map(work).collect()[0]
            except Py4JError:
                return Outcome(error="the worker was lost (Spark has logged why)")
            return outcome

        futures = {pool.submit(job, task): number for number, task in enumerate(tasks)}
        for future in as_completed(futures):
            yield futures[future], future.result()

    try:
        yield run
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        context.cancelAllJobs()
        pool.shutdown(wait=True)
        if mine:
            session.stop()
