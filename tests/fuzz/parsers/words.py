"""Entries of what people write as values: times, budgets, policies, goals, options."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from recrawl.cli import options
from recrawl.cli.demo import _check_budget, _seconds
from recrawl.cli.listing.backtest import _methods
from recrawl.cli.listing.forecast import days_of
from recrawl.cli.listing.schedule import _spent, goal_of, limits_of
from recrawl.cli.listing.shared import named, whole_days_of
from recrawl.cli.simulate.intervals import _rules
from recrawl.cli.trends.errors import _names
from recrawl.errors import InvalidInput, RecrawlError
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import Freshness
from recrawl.policies import POLICIES
from recrawl.policies.named import parameters, policy_named
from recrawl.rates.published.classes import class_rates
from recrawl.report.pages import status_named
from recrawl.settings.keys import size_of
from recrawl.simulate.competitors import parse_policies
from recrawl.store import file_of
from recrawl.units import EARLIEST, LATEST, days, duration, instant, microseconds
from tests.fuzz.grammar import generator
from tests.fuzz.parser import Parser

if TYPE_CHECKING:
    from collections.abc import Callable


def _words(data: bytes) -> str:
    """Text as the command line hands it over: bytes that are no letters become half letters."""
    return data.decode("utf-8", "surrogateescape")


def _each(*reads: Callable[[str], object]) -> Callable[[bytes], None]:
    """Try several readers on a text; of several errors the last is raised."""

    def read(data: bytes) -> None:
        text, refused = _words(data), list[RecrawlError]()
        for each in reads:
            try:
                each(text)
            except RecrawlError as error:
                refused.append(error)
        assert all(str(error).isprintable() for error in refused)
        if refused:
            raise max(refused, key=lambda error: len(str(error)))

    return read


def _read_days(text: str) -> None:
    found = days(text)
    assert 0 < found < math.inf
    assert duration(found)
    assert duration(found * 1e300 * 1e300) == "never"


def _read_instant(text: str) -> None:
    moment = instant(text)
    assert EARLIEST <= moment <= LATEST
    assert instant(moment.isoformat()) == moment
    microseconds(moment)


def _read_budget(text: str) -> None:
    budget = Budget.read(text)
    assert 0 < budget.visits < math.inf
    assert budget.each in {"crawl", "page", "change"}
    assert budget.for_changes(changes=3, page_days=2.0).visits_a_day(7) > 0
    assert budget.visits_a_day(7) > 0


def _read_policy(text: str) -> None:
    policy = policy_named(text, Freshness())
    assert parameters(policy) is not None


def _read_past(text: str) -> None:
    assert math.isfinite(options.past(text, "--since"))


def _read_size(text: str) -> None:
    assert size_of(text, "memory") >= 0


def _read_classes(text: str) -> None:
    rates, weights = class_rates(text)
    assert all(0 < rate < math.inf for rate in rates)
    assert weights is None or len(weights) == len(rates)


def _read_counts(text: str) -> None:
    changes, gaps = options.counts(text)
    assert changes >= 0
    assert gaps >= 0


def _read_days_of(text: str) -> None:
    found = days_of(text)
    assert len(found) >= 1
    assert (found > 0).all()


_LONGEST = 6_000  # more digits than Python makes a number of
_TOKENS = tuple(
    b"90s 30m 6h 3d 2w / /page/ /change . .. , : = % 1d=3 >= and recall precision".split()
)

PARSERS = (
    Parser(
        "units",
        _each(_read_days, _read_instant, _read_budget),
        seeds=(
            *(b"90s", b"30m", b"6h", b"3d", b"2w", b"1.5d", b"5000/1d", b"0.1/page/12h"),
            *(b"4/change", b"2026-01-02T03:04:05+01:00", b"86400", b"-1e9", b"1e30"),
            *(b"Fri, 02 Jan 1970 00:00:00 GMT", b"400d", b"300w", b"99999w", b"0.5s", b" 7 / 1d "),
        ),
        modules=(
            *(f"recrawl.units:{name}" for name in ("days", "duration", "instant")),
            *(f"recrawl.units:{name}" for name in ("_from_epoch", "_as_iso", "_figures")),
            "recrawl.plan.budget",
        ),
        tokens=_TOKENS,
        raises=(InvalidInput,),
        longest=_LONGEST,
        longest_message=8 * _LONGEST,
    ),
    Parser(
        "policies",
        _each(_read_policy, parse_policies, _rules),
        seeds=(
            b"nutch:more=0.2:longest=90d",
            b"uniform, nutch:more=0.2,optimal-known",
            b"all",
            b"malcolm:stop=100:soft=36h",
            b"azar-floor:randomised=yes:seed=3",
            b"clairvoyant:x=1",
            b"nutch:more",
            *(name.encode() for name in POLICIES),
        ),
        modules=("recrawl.policies.named", "recrawl.simulate.competitors:parse_policies"),
        tokens=(
            *(b":", b"=", b",", b"yes", b"no", b"none", b"90d", b"1e400", b"0.5", b"1"),
            *(name.encode() for name in POLICIES),
            *sorted(
                f":{key}=".encode()
                for name in POLICIES
                for key in parameters(policy_named(name, Freshness()))
            ),
        ),
        raises=(InvalidInput,),
        longest=_LONGEST,
        longest_message=8 * _LONGEST,
        generate=generator(
            {
                "all": ["<name>", "<name>:<key>=<value>", "<name>:<key>=<value>:<key>=<value>"],
                "name": list(POLICIES),
                "key": sorted(
                    {
                        key
                        for name in POLICIES
                        for key in parameters(policy_named(name, Freshness()))
                    }
                ),
                "value": ["1", "0.5", "90d", "yes", "none", "-1", "nan", "1e400", "x", "9" * 5_000],
            },
            "all",
        ),
    ),
    Parser(
        "options",
        _each(
            _read_past,
            _read_size,
            _read_classes,
            _read_counts,
            options.moment,
            lambda text: options.share(text, "--lying"),
            lambda text: options.renamed(text.split(), ("page", "at"), "site"),
            lambda text: whole_days_of(text, "--train"),
            _seconds,
            _check_budget,
            _names,
            status_named,
            lambda text: file_of(text) if text.isprintable() else None,  # a path is shown as it is
        ),
        seeds=(
            *(b"3d", b"2026-01-05", b"500M", b"2 GB", b"1d,7d,30d", b"1d=3,7d=1", b"1d=3,7d"),
            *(b"20%", b"0.2", b"4/10", b"page=url at=when", b"page=url page=x", b"7d", b"20s"),
            *(b"60/1d", b"4/change", b"gone", b"sqlite:///a.db", b"http://x", b"sqlite://", b""),
            *(b"naive,bayes", b"1d=x", b"weibull"),
        ),
        modules=(
            "recrawl.cli.options",
            "recrawl.cli.demo:_seconds",
            "recrawl.cli.demo:_check_budget",
            "recrawl.cli.trends.errors:_names",
            "recrawl.cli.listing.shared:whole_days_of",
            "recrawl.report.pages:status_named",
            "recrawl.store:file_of",
        ),
        tokens=(*_TOKENS, b"page=", b"at=", b"GB", b"sqlite:///", b"://"),
        raises=(RecrawlError,),
        longest=_LONGEST,
        longest_message=8 * _LONGEST,
    ),
    Parser(
        "listing options",
        _each(
            lambda text: goal_of(text, 0.8),
            limits_of,
            lambda text: _spent(text, 30.0),
            _read_days_of,
            _methods,
            named,
        ),
        seeds=(
            *(b"recall >= 0.9 and precision >= 0.8", b"recall>=1", b"2/7d,5/30d", b"10/7d"),
            *(b"3d", b"1d,7d", b"1d..30d", b"1h..24h", b"ar-published:learning=0.1:weekly=yes"),
            *(b"all", b"ar:interpolation=model", b"survival, refit", b"0.1/page/1d", b"2/7d"),
        ),
        modules=(
            *(
                f"recrawl.cli.listing.schedule:{name}"
                for name in ("goal_of", "limits_of", "_spent")
            ),
            "recrawl.cli.listing.forecast:days_of",
            "recrawl.cli.listing.backtest:_methods",
            "recrawl.cli.listing.shared:named",
            "recrawl.listings.forecast.methods:method_named",
            "recrawl.listings.forecast.methods:_parameter",
        ),
        tokens=(*_TOKENS, b"ar:", b"learning=", b"weekly=no", b"interpolation=", b"survival"),
        raises=(InvalidInput,),
        longest=_LONGEST,
        longest_message=8 * _LONGEST,
    ),
)
