"""Budgets of visits: as people write them, and what they come to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.plan.budget import Budget
from recrawl.units import days

amounts = st.decimals(min_value="0.001", max_value=10**9, places=3)
durations = st.builds("{}{}".format, st.integers(1, 1000), st.sampled_from("smhdw"))
spaces = st.sampled_from(["", " ", "  "])


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("5000/1d", Budget(5000.0)),
        ("1/12h", Budget(2.0)),
        ("0.1/page/1d", Budget(0.1, "page")),
        (" 7 / page / 1w ", Budget(1.0, "page")),
        ("4/change", Budget(4.0, "change")),
        ("0.5 / change", Budget(0.5, "change")),
    ],
)
def test_budgets_are_read_as_people_write_them(text, budget):
    assert Budget.read(text) == budget


@given(amounts, durations, spaces, spaces, st.booleans())
def test_a_budget_is_so_many_visits_in_so_long(amount, duration, before, after, each):
    """Spaces do not matter."""
    page = f"page{after}/{before}" if each else ""
    budget = Budget.read(f"{before}{amount}{after}/{before}{page}{duration}{after}")

    assert budget.each == ("page" if each else "crawl")
    assert budget.visits == pytest.approx(float(amount) / days(duration), rel=1e-12)


@given(amounts, st.integers(1, 10**7))
def test_a_budget_a_page_grows_with_the_pages(amount, pages):
    whole, each = Budget.read(f"{amount}/1d"), Budget.read(f"{amount}/page/1d")

    assert whole.visits_a_day(pages) == float(amount)
    assert each.visits_a_day(pages) == pytest.approx(float(amount) * pages)


@given(amounts, st.integers(0, 10**6), st.floats(1e-3, 1e9))
def test_visits_a_change_become_visits_a_page(amount, changes, page_days):
    """As many visits in all as there were changes, times the amount."""
    budget = Budget.read(f"{amount}/change").for_changes(changes=changes, page_days=page_days)

    assert budget.each == "page"
    assert budget.visits * page_days == pytest.approx(float(amount) * changes, rel=1e-9)


def test_a_history_of_no_time_has_no_visits():
    assert Budget(4.0, "change").for_changes(changes=3, page_days=0.0) == Budget(0.0, "page")


@pytest.mark.parametrize("budget", [Budget(5.0), Budget(0.5, "page")])
def test_other_budgets_need_no_changes(budget):
    assert budget.for_changes(changes=3, page_days=10.0) is budget


def test_visits_a_change_are_nothing_without_changes():
    with pytest.raises(InvalidParameter, match=r"needs a history of changes \(got none\)"):
        Budget(4.0, "change").visits_a_day(10)


@pytest.mark.parametrize(
    "text",
    ["", "5000", "/1d", "-1/1d", "1e3/1d", "many/1d", "5000/", "nan/1d"],
)
def test_a_bad_budget_is_refused_with_an_example(text):
    with pytest.raises(InvalidParameter) as refused:
        Budget.read(text)

    assert str(refused.value) == (
        f"budget must look like 5000/1d, 0.1/page/1d or 4/change (got {text!r})"
    )


@pytest.mark.parametrize("text", ["0/1d", "0.0/page/1d", "0/change", 0, 0.0])
def test_a_budget_of_nothing_is_refused_as_that(text):
    """An example would show the form that it has."""
    with pytest.raises(InvalidParameter) as refused:
        Budget.read(text)

    assert str(refused.value) == f"budget must be above 0 (got {text!r})"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        *(("5/d", "5/1d"), ("5/day", "5/1d"), ("60/h", "60/1h"), ("60/hour", "60/1h")),
        *(("5/w", "5/1w"), ("5/week", "5/1w"), ("1/m", "1/1m"), ("1/minute", "1/1m")),
        *(("1/page/d", "1/page/1d"), ("1 / page / week", "1/page/1w"), ("9/year", "9/1y")),
    ],
)
def test_a_unit_alone_is_one_of_it(text, same):
    assert Budget.read(text) == Budget.read(same)


@pytest.mark.parametrize("text", ["5/month", "5/page", "5/0d", "1/page/days", "5/1"])
def test_a_bad_period_is_refused_as_part_of_the_budget(text):
    with pytest.raises(InvalidParameter) as refused:
        Budget.read(text, name="per-host", kinds=("crawl",))

    assert str(refused.value) == f"per-host must look like 5000/1d (got {text!r})"


def test_a_budget_of_another_kind_is_refused():
    with pytest.raises(InvalidParameter, match=r"look like 5000/1d or 0.1/page/1d \(got"):
        Budget.read("4/change", kinds=("crawl", "page"))


@given(st.text(st.sampled_from("0123456789./ pagechnd\n\u0663-e"), max_size=15))
def test_any_text_is_a_budget_or_is_refused(text):
    try:
        budget = Budget.read(text)
    except InvalidParameter:
        return

    assert budget.visits > 0
    assert budget.each in {"crawl", "page", "change"}


def test_a_budget_without_end_is_refused():
    """Digits enough to be infinite: the mean gap between visits would be 0."""
    with pytest.raises(InvalidParameter):
        Budget.read("9" * 400 + "/1d")
