"""The option `--prior-from`: a crawl that begins with what another has learned of change rates.

Touches: files, the standard streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from recrawl.cli import screen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recrawl.policies.recrawl.prior_sums import AssumedRates

PRIOR_FROM = typer.Option(
    "--prior-from",
    metavar="STORE|LOG",
    help="Assume of pages never visited the change rates in another crawl's store or a visit log; "
    "`public`: those of six public sources.",
    show_default=False,
)


def write_prior(settings: Path, source: str) -> None:
    """Write the rates of another crawl into the settings, unless they have rates already.

    So everybody who reads the settings assumes the same, now and after the other crawl has gone on.
    """
    from recrawl.policies.named import with_assumed
    from recrawl.settings.edits import with_values
    from recrawl.store.scratch import whole_file
    from recrawl.store.settings_file import load_text, settings_of

    text = load_text(settings)
    now = settings_of(text, settings).policy
    assumed = _read(source)
    policy = with_assumed(now, assumed)
    if policy is None:
        screen.remark(f"{settings} has rates to assume already (policy = {now}); they stay.")
        return
    changed, _ = with_values(text, {"policy": [policy]}, name=str(settings))
    with whole_file(settings) as file:
        file.write(changed.encode())
    screen.remark(f"{_sentence(assumed, source)} Written to {settings}: policy = {policy}")


def with_prior(policies: Sequence[str], source: str) -> list[str]:
    """Policies that begin with the rates of another crawl, those that can and have none yet."""
    from recrawl.errors import InvalidParameter
    from recrawl.policies.named import split_parameters, with_assumed

    assumed = _read(source)
    found = [
        (with_assumed(each, assumed) or each)
        if split_parameters(each)[0] in ("recrawl", "bank")
        else each
        for each in policies
    ]
    if found == list(policies):
        raise InvalidParameter("--prior-from needs the policy recrawl or bank, without prior_rate")
    screen.remark(_sentence(assumed, source))
    return found


def _read(source: str) -> AssumedRates:
    from recrawl.analysis.assumed import assumed_from

    return assumed_from(source)


def _sentence(assumed: AssumedRates, source: str) -> str:
    from recrawl.policies.recrawl.prior_sums import PUBLIC_RATES

    where = "on six public sources" if assumed is PUBLIC_RATES else f"in {source}"
    return (
        f"Pages never visited are assumed to change {assumed.prior_rate:g} times per day "
        f"on average (shape {assumed.prior_shape:g}), as {where}."
    )
