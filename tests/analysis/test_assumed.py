"""Rates to assume of pages never visited, from the visits of another crawl."""

import numpy as np
import pytest

from recrawl.analysis.assumed import assumed_from
from recrawl.errors import InvalidInput, InvalidParameter


def log_of(path, rates, *, days=60, site="a{}.org", sites=1):
    """A log of daily visits to pages that change at these rates."""
    random = np.random.default_rng(0)
    start = np.datetime64("2026-01-01")
    lines = ["page,visited_at,changed"]
    for page, rate in enumerate(rates):
        address = f"https://{site.format(page % sites)}/{page}"
        changed = random.random(days) < -np.expm1(-rate)
        lines += [
            f"{address},{start + day},{str(bool(each)).lower()}" for day, each in enumerate(changed)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_distribution_of_rates_is_found_again(tmp_path):
    """600 pages of a Gamma population: mean 0.2 per day, shape 0.8."""
    rates = np.random.default_rng(1).gamma(0.8, 0.2 / 0.8, 600)
    found = assumed_from(log_of(tmp_path / "visits.csv", rates))

    assert found.prior_rate == pytest.approx(rates.mean(), rel=0.1)
    assert found.prior_shape == pytest.approx(0.8, rel=0.15)


def test_sites_that_differ_make_a_new_site_uncertain(tmp_path):
    """Pages of each site are alike, and one site is a hundred times faster than the other."""
    rates = np.where(np.arange(200) % 2, 0.5, 0.005)
    apart = assumed_from(log_of(tmp_path / "apart.csv", rates, sites=2))
    alike = assumed_from(log_of(tmp_path / "alike.csv", np.full(200, 0.05), sites=2))

    assert apart.prior_shape < 1 < alike.prior_shape


def test_a_log_of_first_visits_alone_is_refused(tmp_path):
    log = log_of(tmp_path / "visits.csv", np.full(3, 0.1), days=1)

    with pytest.raises(InvalidParameter, match="no page that was visited twice"):
        assumed_from(log)


def test_what_is_no_log_is_refused(tmp_path):
    (tmp_path / "visits.csv").write_text("price,colour\n1,red\n")

    with pytest.raises(InvalidInput, match=r"visits\.csv"):
        assumed_from(tmp_path / "visits.csv")
