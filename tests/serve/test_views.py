"""What pages show, as values."""

import re
import time
from dataclasses import replace
from math import inf, isnan, nan

import numpy as np
import pytest

from recrawl.entries.entries import PageChange, PagesFound, VisitMade
from recrawl.errors import InvalidParameter
from recrawl.inspect.status.hindsight import Gaps, past_freshness
from recrawl.inspect.status.overview import plan_basis
from recrawl.serve.views import as_of
from recrawl.serve.views.sites import SiteRow, SitesQuery, SiteTable
from recrawl.serve.views.what_if import read_what_if
from recrawl.settings.settings import read_settings
from recrawl.store import create_store, open_store
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.serve import api_server, servers, stores

STALE = 'class="as-of stale"'


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    """Settings and store of a crawl."""
    file = stores.example(tmp_path_factory.mktemp("crawl"))
    settings = read_settings(file.read_text())
    with open_store(file.with_name("recrawl.db")) as reader:
        basis = plan_basis(settings, reader, reader.newest_instant() / SECONDS_A_DAY)
        yield settings, reader, basis


def test_a_copy_counts_as_fresh_until_its_page_has_changed():
    """Of twenty copies, one changed on a day between 0 and 4, and one was not visited since; the
    others were unchanged at the next visit: (18 + 3 / 4) / 19 on day 1."""
    ends, changed = np.array([4.0, inf, *[5.0] * 18]), np.arange(20) == 0
    gaps = Gaps(np.zeros(20), ends, changed, np.full(20, np.nan))

    assert gaps.fresh_at(np.array([1.0])) == pytest.approx([18.75 / 19])


def test_dates_tell_how_fresh_copies_were_that_are_visited_as_soon_as_they_change():
    """The truth is known. Without dates, a crawl that hears of changes looks half as fresh."""
    random = np.random.default_rng(1)
    begins, ends, changed, dated, truly = [], [], [], [], []
    asked = np.linspace(10.0, 20.0, 21)
    for _ in range(300):
        changes = np.cumsum(random.exponential(2.0, 40))
        visits = np.sort(np.concatenate([[0.0, 60.0], changes[changes < 60] + 0.05]))
        before, after = visits[:-1], visits[1:]
        last = changes[np.maximum(np.searchsorted(changes, after) - 1, 0)]
        begins.append(before)
        ends.append(after)
        changed.append(last > before)
        dated.append(np.where(last > before, last, np.nan))
        seen = before[np.searchsorted(before, asked, "right") - 1]
        truly.append(np.searchsorted(changes, asked) == np.searchsorted(changes, seen))
    gaps = Gaps(*map(np.concatenate, (begins, ends, changed, dated)))
    found = gaps.fresh_at(asked)
    without = replace(gaps, dated=np.full(len(gaps.ends), np.nan)).fresh_at(asked)

    assert found == pytest.approx(np.mean(truly, axis=0), abs=0.02)
    assert found.mean() > 0.95
    assert without.mean() < 0.7


def test_nothing_is_said_while_too_few_copies_were_visited_since():
    gaps = Gaps(np.zeros(4), np.array([4.0, 4, 4, inf]), np.zeros(4, np.bool_), np.full(4, np.nan))

    assert isnan(gaps.fresh_at(np.array([1.0]))[0])


def test_a_page_that_is_gone_was_stale_at_the_end_and_is_no_copy_afterwards(tmp_path):
    """Visited on days 1 and 3, found gone on day 5; another is found unchanged all the time."""
    outcomes = [VisitOutcome.FIRST, VisitOutcome.SAME, VisitOutcome.GONE]
    steady = [VisitOutcome.FIRST, VisitOutcome.SAME, VisitOutcome.SAME, VisitOutcome.SAME]
    with create_store(tmp_path / "a.db") as store:
        store.write([PagesFound(["https://a.org/1", "https://a.org/2"], ["a.org"] * 2, [0, 0], 0)])
        store.write(
            [
                VisitMade(
                    *(page, (2 * row + 1) * SECONDS_A_DAY, outcome),
                    change=PageChange(PageStatus.COPIED) if not row else None,
                )
                for page, each in enumerate((outcomes, steady))
                for row, outcome in enumerate(each)
            ]
        )
    with open_store(tmp_path / "a.db") as reader:
        found = past_freshness(reader, [2.0, 4.0, 6.0, 8.0])

    assert found[:3] == pytest.approx([1.0, 0.75, 1.0])
    assert isnan(found[3])


def test_an_empty_store_has_no_past(tmp_path):
    create_store(tmp_path / "a.db").close()
    with open_store(tmp_path / "a.db") as reader:
        assert np.isnan(past_freshness(reader, [1.0])).all()


def _fresh(found):
    return found.outlook.fresh[0]


def test_more_budget_is_fresher_and_less_is_staler(crawl):
    settings, reader, basis = crawl
    found = {
        text: read_what_if(settings, reader, basis, {"budget": text})
        for text in ("", "4/1d", "400/1d")
    }

    less, same, more = (_fresh(found[text].then) for text in ("4/1d", "", "400/1d"))
    assert less < same < more
    assert found[""].lines == []
    assert _fresh(found["4/1d"].now) == same
    assert not found["4/1d"].restart


def test_a_weight_moves_visits_to_its_block_and_needs_a_restart(crawl):
    settings, reader, basis = crawl
    before = read_what_if(settings, reader, basis, {})
    after = read_what_if(settings, reader, basis, {"weight-1": "20"})

    had, has = ([row.visits_then or nan for row in each.blocks] for each in (before, after))
    assert has[1] > had[1]
    assert has[0] < had[0]
    assert after.lines == ["[[site]]", 'address = "https://b.org/"', "weight = 20  # was 2"]
    assert after.restart


def test_lines_say_what_the_settings_then_are(crawl):
    """What is to be written gives the settings that were planned for."""
    settings, reader, basis = crawl
    asked = {"budget": "50/1d", "objective": "freshness", "target-0": "", "target-1": "80"}
    found = read_what_if(settings, reader, basis, asked)

    assert found.lines == [
        'budget = "50/1d"  # was "40/1d"',
        'objective = "freshness"  # was "harmonic"',
        "",
        "[[site]]",
        'address = "https://a.org/"',
        "# target  # was 0.9",
        "",
        "[[site]]",
        'address = "https://b.org/"',
        "target = 0.8  # was none",
    ]
    assert "visits per day" in found.blocks[1].says


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"budget": "soon"}, "budget must look like"),
        ({"budget": "4/change"}, "budget must look like"),
        ({"objective": "luck"}, "objective must be one of"),
        ({"weight-0": "-1"}, "weight must be a number"),
        ({"weight-0": "0"}, "weight must be more than 0"),
        ({"target-0": "100"}, "less than 100 %"),
        ({"target-0": "nan"}, "target must be a number"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_planned(crawl, asked, said):
    settings, reader, basis = crawl
    found = read_what_if(settings, reader, basis, asked)

    assert said in found.problem
    assert found.lines == []


def test_sites_without_copies_come_last_either_way():
    row = SiteRow("a.org", 1, 1, 0.5, 0, 0, 0, 0, 0.0, None, "")
    rows = [replace(row, host="none", fresh=nan), replace(row, fresh=0.9), row]
    table = SiteTable(rows, at=0.0)

    up, _ = table.find(SitesQuery(sort="fresh"))
    down, _ = table.find(SitesQuery(sort="-fresh"))
    assert [each.fresh for each in up[:2]] == [0.5, 0.9]
    assert [each.fresh for each in down[:2]] == [0.9, 0.5]
    assert up[2].host == down[2].host == "none"


def test_an_unknown_order_is_refused():
    with pytest.raises(InvalidParameter, match="sort must be one of"):
        SitesQuery(sort="luck")


@pytest.mark.parametrize("path", ["/sites/nowhere.org", "/listings/none", "/pages/999", "/nothing"])
def test_what_is_not_there_is_not_found(example, path):
    status, headers, text = servers.get(example + path)

    assert status == 404
    assert headers["content-type"].startswith("text/html")
    assert "Back to the overview" in text


@pytest.mark.parametrize("path", ["/sites?sort=luck", "/pages?sort=luck", "/changes?share=x"])
def test_a_wrong_parameter_is_said(example, path):
    status, _, text = servers.get(example + path)

    assert status == 422
    assert "must be" in text


def test_the_policy_allows_no_code_but_our_own(example):
    _, headers, text = servers.get(example + "/")
    policy = headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert " style=" not in text
    assert "<style" not in text
    assert not [line for line in text.splitlines() if "<script>" in line]


def test_figures_are_marked_as_stale_when_no_newer_ones_can_be_worked_out(tmp_path, monkeypatch):
    """Those that are there are shown a while longer, and say how old they are."""
    monkeypatch.setattr(as_of, "_STALE_DAYS", 7 / SECONDS_A_DAY)  # more than they are kept
    file = stores.example(tmp_path / "broken")
    with api_server.served(file) as client:
        fresh = client.get("/").body.decode()
        with client.stream("/api/v1/live") as lines:
            first = next(lines)
        file.write_text("budget = ?")
        deadline = time.monotonic() + 60
        while STALE not in (stale := client.get("/").body.decode()):
            assert time.monotonic() < deadline
            time.sleep(0.5)
        with client.stream("/api/v1/live") as lines:
            last = next(lines)

    instants = {*re.findall(r'<time datetime="([^"]+)"', fresh + stale)}
    assert STALE not in fresh
    assert instants == {first["as_of"]} == {last["as_of"]}
    assert (first["stale"], last["stale"]) == (False, True)
    assert first["figures"].keys() == first["notes"].keys()
