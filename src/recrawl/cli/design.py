"""`recrawl design`: how often and how long to visit pages before their rates are known.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.checks import check_choice
from recrawl.cli import options, screen, shared

if TYPE_CHECKING:
    from recrawl.report.design import Study

_EVERY = typer.Option(
    metavar="TIME", help="Assumed mean interval between changes, e.g. 7d.", show_default=False
)
_VISITS = typer.Option(
    metavar="N", help="Visits after the first, which is only the baseline.", min=1
)
_GAP = typer.Option(
    metavar="TIME",
    help="Time between visits.  [default: 1.59 times --every, which is most informative]",
    show_default=False,
)
_PRECISION = typer.Option(
    metavar="SHARE", help="Relative error of the rate to reach, e.g. 0.2 or 20%."
)
_BIAS = typer.Option(metavar="SHARE", help="Largest bias that counts as unbiased.")
_LEVEL = typer.Option(
    metavar="SHARE",
    parser=options.fraction,
    help="For --seen: probability that the rate lies in its band.",
)
_SEEN = typer.Option(
    metavar="X/N",
    help="Changes and gaps so far: test whether they fit --every.",
    show_default=False,
)
_METHOD = typer.Option(
    metavar="METHOD", help="Only this method; may be repeated.", show_default=False
)
_PLOT = typer.Option(
    metavar="FILE",
    help="Plot bias and sigma over changes per gap to FILE (.svg or .png): of one --method after "
    "5 to 50 visits, or of several after --visits.",
    show_default=False,
)
_UP_TO = typer.Option(metavar="NUMBER", help="Changes per gap where the picture ends.", min=0.1)

_PICTURED = (5, 10, 20, 50)  # gaps
_MOST_DRAWN = 6  # methods whose lines can be told apart


def design(
    *,
    every: Annotated[str, _EVERY] = "7d",
    visits: Annotated[int, _VISITS] = 10,
    gap: Annotated[str, _GAP] = "",
    precision: Annotated[str, _PRECISION] = "20%",
    bias: Annotated[str, _BIAS] = "10%",
    level: Annotated[float, _LEVEL] = 0.9,
    seen: Annotated[str, _SEEN] = "",
    method: Annotated[list[str] | None, _METHOD] = None,
    plot: Annotated[Path | None, _PLOT] = None,
    up_to: Annotated[float, _UP_TO] = 6.0,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Plan how often to visit a page to learn its change rate.

    For a page with an assumed change rate that is visited regularly, writes one row
    per estimator, computed exactly: its bias and standard deviation relative to the
    true rate; the probability of an estimate within --precision, and of none; the
    bias of the mean interval; the most changes per gap for which the bias stays
    small; and the visits and the time needed to reach --precision. With --seen,
    also says whether the changes so far fit the assumption, and when to visit next.

    \b
    Examples:
        recrawl design --every 7d --visits 10
        recrawl design --every 30d --gap 1d --precision 10%
        recrawl design --every 7d --gap 10d --seen 4/4
        recrawl design --method cho --plot cho.svg
        recrawl design --method ratio --method cho --up-to 20 --plot both.svg
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.checks import check_fraction
    from recrawl.rates.design import best_gap
    from recrawl.report.design import DESIGNED, Study
    from recrawl.units import days

    out = shared.Output.of(as_csv=as_csv, as_json=as_json, file=output)
    methods = method or list(DESIGNED)
    for name in methods:
        check_choice(DESIGNED, method=name)
    check_fraction(level=level)
    interval = days(every)
    study = Study(
        mean_interval=interval,
        gap=days(gap) if gap else best_gap(interval),
        gaps=visits,
        precision=options.share(precision, "precision"),
        bound=options.share(bias, "bias"),
        level=level,
    )
    if visits == 1 and "last-modified" in (method or []):
        raise typer.BadParameter("last-modified needs at least 2 visits after the first")
    judged = _judged(study, *options.counts(seen)) if seen else []
    if plot is not None:
        _draw(plot, methods, visits, up_to)
    _put(study, _possible(methods, visits), out)
    for sentence in [*_remarks(study), *judged]:
        screen.remark(sentence)


def _possible(methods: list[str], visits: int) -> list[str]:
    """Methods that have an answer after this many visits."""
    return [name for name in methods if name != "last-modified" or visits > 1]


def _draw(path: Path, methods: list[str], visits: int, most: float) -> None:
    from recrawl.adapters.pictures import check_picture, write_picture
    from recrawl.report.charts.accuracy import accuracy_chart
    from recrawl.report.design import curves

    check_picture(path)
    if len(methods) == 1:
        drawn, title = curves(methods, _PICTURED, most=most), methods[0]
    elif len(methods) <= _MOST_DRAWN:
        drawn, title = curves(methods, [visits], most=most), f"after {visits} visits"
    else:
        raise typer.BadParameter(f"--plot needs one to {_MOST_DRAWN} --method")
    write_picture(path, accuracy_chart(drawn, title=title))


def _put(study: Study, methods: list[str], out: shared.Output) -> None:
    """Print a table, or write the figures."""
    import numpy as np

    from recrawl.report.design import study_header, study_words

    columns = study.columns(methods)
    if out.interactive:
        screen.show_table(study_header(study), study_words(methods, columns))
        return
    figures = {name: np.array(column) for name, column in columns.items()}
    finite = {name: np.where(np.isfinite(some), some, np.nan) for name, some in figures.items()}
    out.write(methods, finite, first="method")


def _remarks(study: Study) -> list[str]:
    """The assumptions, the most informative gap, and what dates would add."""
    from recrawl.rates.design import best_gap, period_for
    from recrawl.report.words import every, percent

    expected = study.gap / study.mean_interval
    least = period_for(study.bound) * study.mean_interval
    times = "once" if study.gaps == 1 else f"{study.gaps} times, {every(study.gap)} apart,"
    assumed = (
        f"A page that changes every {every(study.mean_interval)}, visited {times} after a "
        f"first visit: r = {expected:.3g} changes per gap."
    )
    short = (
        f"In less than {every(least)}, its mean interval (malcolm) is underestimated by more "
        f"than {percent(study.bound)}, however frequent the visits."
    )
    best, gain = every(best_gap(study.mean_interval)), study.gain_of_dates
    return [
        assumed,
        f"Visits and time: needed for an error of {percent(study.precision)}.",
        f"The most informative gap for such a page is {best} (r = 1.59).",
        f"With dated changes (Last-Modified), a visit is {gain:.2f} times as informative.",
        short,
    ]


def _judged(study: Study, changes: int, gaps: int) -> list[str]:
    """Whether the first gaps fit the assumed rate."""
    from recrawl.rates.design import surprise
    from recrawl.report.words import every, percent

    found = surprise(
        study.mean_interval, gap=study.gap, changes=changes, gaps=gaps, level=study.level
    )
    if changes == 0:
        fits = f"a change at most every {every(1 / found.high)}"
    elif changes == gaps:
        fits = f"a change at least every {every(1 / found.low)}"
    else:
        fits = f"a change every {every(1 / found.high)} to {every(1 / found.low)}"
    sentence = (
        f"{changes} of {gaps} gaps changed, which fits {fits}. If the assumption is right, a count "
        f"this far off has a probability of {percent(found.chance)}."
    )
    if found.far_off:
        return [sentence, f"The assumption is far off: visit every {every(found.gap)} from now on."]
    more = "1 more changed gap" if found.more == 1 else f"{found.more} more changed gaps in a row"
    return [
        sentence,
        (
            f"The assumption may hold: {more} would refute it. "
            f"The next visit is most informative after {every(found.gap)}."
        ),
    ]
