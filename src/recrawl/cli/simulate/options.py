"""Options that all verbs of `recrawl simulate` share, checked, as one value.

Touches: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.checks import check_choice
from recrawl.cli import options, shared
from recrawl.cli.prior_from import PRIOR_FROM, with_prior

if TYPE_CHECKING:
    from recrawl.analysis.simulate import SimulationQuestion
    from recrawl.simulate.observation import Observation

_BUDGET = typer.Option(
    metavar="BUDGET",
    help="Visits: 5000/1d, 0.1/page/1d, or 4/change (four visits per change).  [default: "
    "4/change; the crawl's own budget for a STORE]",
    show_default=False,
)
_POLICY = typer.Option(
    metavar="POLICIES",
    help="Policies with their parameters, comma-separated, e.g. recrawl,nutch:more=0.2; or "
    "all.  [default: recrawl,optimal-known,uniform,nutch]",
    show_default=False,
)
_OBJECTIVE = typer.Option(
    metavar="OBJECTIVE", help="What to optimise: harmonic, freshness, age, missed or detected."
)
_OBSERVE = typer.Option(
    metavar="WHAT", help="What a visit reveals: existence of a change, or last-modified."
)
_LYING = typer.Option(
    metavar="SHARE",
    help="Share of sections with a wrong Last-Modified, e.g. 10%.",
    show_default=False,
)
_MISSED = typer.Option(
    metavar="SHARE", help="Probability that a visit misses a change, e.g. 5%.", show_default=False
)
_FALSE = typer.Option(
    metavar="SHARE",
    help="Probability that a visit reports a change where there is none.",
    show_default=False,
)
_STEP = typer.Option(
    metavar="TIME",
    help="Time between decisions.  [default: 6h; less for a short history]",
    show_default=False,
)
_LIVE = typer.Option(
    "--live",
    help="Visit by visit, as a live crawl does: first copies, host delays, a daily budget.",
)
_WARM_UP = typer.Option(
    metavar="TIME", help="Warm-up: time at the start that is not scored.", show_default=False
)
_LEVEL = typer.Option(
    metavar="SHARE",
    parser=options.fraction,
    help="Probability that the staleness lies in its band.",
)
_SEED = typer.Option(metavar="N", help="Random seed.", min=0)
_JOBS = typer.Option(metavar="N", help="Processes that share the work.", min=1)
_PLOT = typer.Option(
    metavar="FILE",
    help="Plot freshness for 0.25x to 4x the budget to FILE: .svg or .png.",
    show_default=False,
)

_OBSERVED = ("existence", "last-modified")
_ASKED = "asked"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How policies are run.

    Args:
        question: How policies are compared.
        plot: Where to draw freshness against the budget; None for nowhere.
        jobs: Processes that share the work.
        out: Where rows go.
    """

    question: SimulationQuestion
    plot: Path | None
    jobs: int
    out: shared.Output


def run_options(
    *,
    inputs: list[Path],
    budget: Annotated[str, _BUDGET] = "",
    policy: Annotated[str, _POLICY] = "",
    prior_from: Annotated[str, PRIOR_FROM] = "",
    objective: Annotated[str, _OBJECTIVE] = "harmonic",
    observe: Annotated[str, _OBSERVE] = "existence",
    lying: Annotated[str, _LYING] = "",
    missed: Annotated[str, _MISSED] = "",
    false: Annotated[str, _FALSE] = "",
    step: Annotated[str, _STEP] = "",
    live: Annotated[bool, _LIVE] = False,
    warm_up: Annotated[str, _WARM_UP] = "",
    level: Annotated[float, _LEVEL] = 0.9,
    seed: Annotated[int, _SEED] = 0,
    plot: Annotated[Path | None, _PLOT] = None,
    jobs: Annotated[int, _JOBS] = 1,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> RunOptions:
    """Check what was asked for, before anything is read."""
    from recrawl.adapters.pictures import check_picture
    from recrawl.analysis.simulate import SimulationQuestion
    from recrawl.checks import check_fraction
    from recrawl.plan.budget import Budget
    from recrawl.plan.objectives import OBJECTIVES
    from recrawl.simulate.competitors import DEFAULT_POLICIES, parse_policies
    from recrawl.units import days

    out = shared.Output.of(*inputs, as_csv=as_csv, as_json=as_json, file=output)
    check_fraction(level=level)
    check_choice(OBJECTIVES, objective=objective)
    if plot is not None:
        check_picture(plot)
    policies = parse_policies(policy) if policy else list(DEFAULT_POLICIES)
    question = SimulationQuestion(
        budget=Budget.read(budget) if budget else None,
        policies=with_prior(policies, prior_from) if prior_from else policies,
        objective=objective,
        observation=_observation(observe, lying, missed, false),
        step=days(step) if step else None,
        live=live,
        warm_up=days(warm_up) if warm_up else 0.0,
        level=level,
        seed=seed,
    )
    return RunOptions(question, plot, jobs, out)


def _observation(observe: str, lying: str, missed: str, false: str) -> Observation:
    from recrawl.simulate.observation import Observation

    check_choice(_OBSERVED, observe=observe)
    if lying and observe != "last-modified":
        raise typer.BadParameter("--lying needs --observe last-modified")
    shares = {"lying": lying, "missed": missed, "false": false}
    return Observation(
        dated=observe == "last-modified",
        **{name: options.share(text, name) for name, text in shares.items() if text},
    )


with_run_options = shared.with_options(run_options, _ASKED)
