"""Figures of a running crawl for Prometheus.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.errors import CannotListen, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.metrics_core import Metric

    from recrawl.crawl.progress import Figures
    from recrawl.crawl.tally import Tally


class Collected:
    """What Prometheus is told when it asks, in a thread of its own.

    Args:
        newest: Gives what the crawl has done, in numbers, and how it is doing; it must only hand
            out what was worked out elsewhere, for the crawl goes on meanwhile.
    """

    def __init__(self, newest: Callable[[], tuple[Tally, Figures]]) -> None:
        self._newest = newest

    def collect(self) -> Iterator[Metric]:
        """One metric after the other."""
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        tally, figures = self._newest()
        visits = CounterMetricFamily(
            "recrawl_visits", "Visits made, by what they found.", labels=["outcome"]
        )
        for outcome, count in tally.outcomes.items():
            visits.add_metric([outcome.label], count)
        yield visits
        yield CounterMetricFamily(
            "recrawl_body_bytes", "Bytes of response bodies received.", tally.raw_bytes
        )
        yield CounterMetricFamily("recrawl_pages_found", "Pages found.", tally.found)
        yield CounterMetricFamily(
            "recrawl_answer_seconds", "Seconds spent waiting for answers.", tally.seconds
        )
        yield GaugeMetricFamily("recrawl_copies", "Pages with a copy.", figures.copies)
        yield GaugeMetricFamily("recrawl_new_pages", "Pages without a copy.", figures.new)
        yield GaugeMetricFamily(
            "recrawl_unknown_pages",
            "Pages expected to exist that are not known.",
            figures.unknown,
        )
        yield GaugeMetricFamily(
            "recrawl_expected_fresh", "Share of copies expected to be fresh.", figures.fresh
        )


def serve_metrics(port: int, collected: Collected) -> Callable[[], None]:
    """Answer on a port of this machine; returns what ends it."""
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry()
    registry.register(collected)
    try:
        server, thread = start_http_server(port, addr="127.0.0.1", registry=registry)
    except OSError as error:
        message = f"metrics: cannot listen on port {port} ({reason(error)}); choose another"
        raise CannotListen(message) from None

    def end() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return end
