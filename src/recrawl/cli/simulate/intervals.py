"""`recrawl simulate intervals`: policies that estimate change intervals, and how well they do.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli import screen, shared

if TYPE_CHECKING:
    from recrawl.simulate.intervals import EstimatingRule, IntervalStudy

_POLICY = typer.Option(
    metavar="POLICIES", help="malcolm, malcolm-last-modified, or both, with their parameters."
)
_EVERY = typer.Option(metavar="TIMES", help="Mean intervals between changes, comma-separated.")
_FOR = typer.Option("--for", metavar="TIME", help="Sampling period.")
_OBJECTS = typer.Option(metavar="N", help="Objects per interval and policy.", min=2)
_SEED = typer.Option(metavar="N", help="Random seed.", min=0)
_HEADER = ("policy", "interval", "bias", "deviation", "visits", "stopped")


def intervals(
    *,
    policy: Annotated[str, _POLICY] = "malcolm:stop=100,malcolm-last-modified:stop=100",
    every: Annotated[str, _EVERY] = "5m,6h,1d,10d,40d,62d",
    lasting: Annotated[str, _FOR] = "120d",
    objects: Annotated[int, _OBJECTS] = 1000,
    seed: Annotated[int, _SEED] = 0,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Show how well a policy estimates change intervals.

    Objects change as a Poisson process. The policy visits each when it wants to,
    with no budget, until it stops by itself (stop=100: after 100 changes) or the
    sampling period ends. Writes one row per policy and interval: bias and standard
    deviation of the estimates relative to the truth, visits per object, and the
    share of objects for which the policy stopped. A fixed schedule is one whose
    bounds are equal, as in the last example. No file is read.

    \b
    Examples:
        recrawl simulate intervals --every 10d,20d,62d
        recrawl simulate intervals --policy malcolm:soft=1d:shortest=1d:ratio=999
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import numpy as np

    from recrawl.simulate.intervals import study_intervals
    from recrawl.units import days

    out = shared.Output.of(as_csv=as_csv, as_json=as_json, file=output)
    means, period, rules = [days(each) for each in every.split(",")], days(lasting), _rules(policy)
    studies = [
        (
            name,
            study_intervals(
                rule, mean, period=period, objects=objects, random=np.random.default_rng(seed)
            ),
        )
        for name, rule in rules
        for mean in means
    ]
    _put(studies, out)


def _rules(text: str) -> list[tuple[str, EstimatingRule]]:
    from recrawl.errors import InvalidParameter
    from recrawl.plan.objectives import Freshness
    from recrawl.policies.named import policy_named
    from recrawl.simulate.intervals import EstimatingRule

    found = []
    for name in (each.strip() for each in text.split(",")):
        policy: Any = policy_named(name, Freshness())
        rule = getattr(policy, "rule", None)
        if not isinstance(rule, EstimatingRule):
            said = "policy must be malcolm or malcolm-last-modified, which estimate an interval"
            raise InvalidParameter(f"{said} (got {name!r})")
        found.append((name, rule))
    return found


def _put(studies: list[tuple[str, IntervalStudy]], out: shared.Output) -> None:
    import numpy as np

    from recrawl.report.words import every, percent

    if out.interactive:
        rows = [
            (
                name,
                every(study.interval),
                f"{100 * study.bias:+.1f} %",
                f"{100 * study.deviation:.1f} %",
                f"{study.visits:.1f}",
                percent(study.stopped),
            )
            for name, study in studies
        ]
        screen.show_table(_HEADER, rows)
        return
    columns = {
        "interval_days": np.array([study.interval for _, study in studies]),
        "bias": np.array([study.bias for _, study in studies]),
        "deviation": np.array([study.deviation for _, study in studies]),
        "visits_per_object": np.array([study.visits for _, study in studies]),
        "stopped": np.array([study.stopped for _, study in studies]),
    }
    out.write([name for name, _ in studies], columns, first="policy")
