"""Laws of a crawl that workers share: who looks at it believes what each worker believes."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.entries.entries import Checkpoint, HintsGiven, PagesFound
from recrawl.inspect.next_visits import next_visits
from recrawl.inspect.status.overview import overview
from recrawl.parse.addresses import host_of
from recrawl.plan.budget import Budget
from recrawl.plan.shared_price import BudgetShare, SlotDemand, SpendingCurve
from recrawl.settings.settings import read_settings
from recrawl.settings.slots import SlotScope
from recrawl.state.division import as_divided
from recrawl.state.opening import open_crawl
from recrawl.state.snapshot import load_snapshot
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.retention import Retention
from recrawl.store.slots.leases import SlotLease, lease_slots, open_slot
from recrawl.units import epoch_days
from tests.cli.running import run
from tests.laws.test_state import BEGAN, DAY, TERMS, assert_equal, visit
from tests.servers import postgres

SLOTS, NEVER = 3, 1e18
HOSTS = [f"site{number}.org" for number in range(7)]


def text_of_settings(terms):
    blocks = (
        f'[[site]]\naddress = "https://{host}/"\n{term}'
        for host, term in zip(HOSTS, terms, strict=True)
    )
    top = f'agent = "bot (me@example.org)"\nbudget = "60/1d"\n[storage]\nslots = {SLOTS}\n'
    return top + "".join(blocks)


def settings_of(terms):
    return read_settings(text_of_settings(terms))


@contextmanager
def crawled(asked, seed, *, saves=True):
    """A store whose slots were crawled each on its own, saved, and crawled on; and when that was.

    Some slots have visits that no checkpoint knows of, and all have fewer than the store.
    """
    random = np.random.default_rng(seed)
    with postgres.place() as place:
        create_store(place).close()
        with closing(lease_slots(place, 600.0)) as leases:
            leases.prepare(SLOTS)
            now = crawl_all(asked, leases, place, random, saves=saves)
        yield place, now


def crawl_all(asked, leases, place, random, *, saves):
    """Crawl each slot; returns when that was over."""
    now = BEGAN
    for scope in SlotScope.all_of(asked, SLOTS):
        if not scope.settings.rules:
            continue
        hosts = [host_of(rule.address) for rule in scope.settings.rules]
        names = [f"https://{host}/s{row % 3}/{row}" for host in hosts for row in range(9)]
        found = PagesFound(
            names, [*map(host_of, names)], scope.settings.rules_of(names), BEGAN * DAY
        )
        copied = np.zeros(len(names), np.bool_)
        with slot_open(leases, place, scope) as (store, reader):
            store.write([found])
            for part in range(1 + int(random.integers(2))):
                at = now + np.sort(random.random(40)) * 2
                store.write([visit(random, copied, each) for each in at])
                now = float(at[-1])
                if saves and not part:
                    crawl = open_crawl(
                        scope.settings, store, reader, now, random=np.random.default_rng(1)
                    )
                    store.write([Checkpoint(crawl.dump())])
            store.write([HintsGiven(names[:: 1 + int(random.integers(5))], now * DAY)])
    said = SpendingCurve(np.array([1.0, 4.0]), np.array([20.0, 10.0]))
    demand = SlotDemand(said, pages=9, spent=7)
    for slot in range(SLOTS):
        fence = leases.take(slot)
        leases.publish({slot: (fence, demand)})
        leases.release(slot, fence)
    return now


@contextmanager
def slot_open(leases, place, scope):
    fence = leases.take(scope.slot)
    assert fence is not None
    lease = SlotLease(fence, 600.0, NEVER)
    with open_slot(place, scope, lease, Retention()) as opened:
        yield opened
    leases.release(scope.slot, fence)


@settings(max_examples=5)
@given(st.tuples(*[st.sampled_from(TERMS)] * len(HOSTS)), st.integers(0, 1 << 16))
def test_who_looks_at_all_slots_believes_what_each_worker_believes(terms, seed):
    asked = settings_of(terms)
    with crawled(asked, seed) as (place, now):
        with open_store(place) as reader:
            divided = as_divided(asked, reader)
            snapshot = load_snapshot(divided, reader, now + 1)
            names = reader.addresses(range(reader.page_count()))
        assert len(divided.divided) == SLOTS

        pools = dict(enumerate(snapshot.pools))
        for scope in SlotScope.all_of(asked, SLOTS):
            if not scope.settings.rules:
                continue
            with (
                closing(lease_slots(place, 600.0)) as leases,
                slot_open(leases, place, scope) as (store, own),
            ):
                each_page, share = Budget(60 / (9 * SLOTS), "page"), divided.divided[scope.slot]
                opened = replace(scope.settings, budget=each_page)
                crawl = open_crawl(opened, store, own, now + 1, random=np.random.default_rng(0))
                shared = BudgetShare(share.visits, 9, window=1.0, each_page=each_page)
                crawl.agenda.budget_pool(0).share_budget(shared)
                of_rules = [rule.address for rule in scope.settings.rules if rule.budget]
                owners = {each.address: number for number, each in pools.items() if each.address}
                numbers = [scope.slot, *(owners[each] for each in of_rules)]
                for own_number, number in enumerate(numbers):
                    pool = pools.pop(number)
                    pages = own.addresses(crawl.agenda.pages(own_number).tolist())
                    assert pages == [names[page] for page in pool.pages]
                    assert_equal(crawl.agenda.frontier(own_number).state, pool.learned)
                    places = [names.index(each) for each in pages]
                    assert_equal(crawl.last[crawl.agenda.pages(own_number)], snapshot.last[places])
                hinted = own.addresses(np.flatnonzero(crawl.announcements.hints).tolist())
                assert len(hinted) > 0
                for each in hinted:
                    assert snapshot.hints.hinted_at(names.index(each)) > BEGAN
        assert all(not len(each.pages) for each in pools.values())


def test_a_look_replays_only_what_no_slot_has_saved():
    asked = settings_of([""] * len(HOSTS))
    with crawled(asked, 3) as (place, now), open_store(place) as reader:
        whole = load_snapshot(asked, reader, now)
        parts = load_snapshot(as_divided(asked, reader), reader, now)
        assert whole.since == reader.last_visit()
        assert parts.since < reader.last_visit()
        assert_equal(whole.last, parts.last)
        assert_equal(whole.rule, parts.rule)
        assert_equal(whole.weight, parts.weight)


def test_the_budget_that_people_read_of_is_that_of_all_slots():
    asked = settings_of([""] * len(HOSTS))
    with crawled(asked, 4) as (place, now), open_store(place) as reader:
        divided = as_divided(asked, reader)
        assert sum(each.visits for each in divided.divided) == pytest.approx(60.0)
        (use,) = overview(divided, reader, now).spent
        (alone,) = overview(asked, reader, now).spent
        assert use.budget == pytest.approx(60.0)
        assert replace(use, budget=60.0) == alone


def test_every_page_of_a_divided_crawl_has_its_next_visit():
    asked = settings_of([""] * len(HOSTS))
    with crawled(asked, 5) as (place, now), open_store(place) as reader:
        snapshot = load_snapshot(as_divided(asked, reader), reader, now)
        due = epoch_days(next_visits(snapshot, reader, np.arange(reader.page_count())))
        assert np.isfinite(due).any()
        assert due[np.isfinite(due)].min() > now - 1 / DAY


def test_a_store_is_looked_at_as_a_whole_once_a_single_process_has_learned_more():
    asked = settings_of([""] * len(HOSTS))
    with crawled(asked, 6) as (place, now):
        with open_store(place) as reader:
            assert as_divided(asked, reader).divided
            assert not as_divided(replace(asked, slots=SLOTS + 1), reader).divided
        with open_for_writing(place) as store, open_store(place) as reader:
            crawl = open_crawl(asked, store, reader, now, random=np.random.default_rng(1))
            store.write([Checkpoint(crawl.dump())])
            assert not as_divided(asked, reader).divided
    with crawled(asked, 7, saves=False) as (place, _), open_store(place) as reader:
        assert not as_divided(asked, reader).divided


def test_what_slots_said_is_read_as_it_was_said():
    with postgres.place() as place:
        create_store(place).close()
        with open_store(place) as reader:
            assert reader.saved_slots() is None
        with closing(lease_slots(place, 600.0)) as leases:
            leases.prepare(SLOTS)
            curve = SpendingCurve(np.array([1.0, 2.0]), np.array([4.0, 3.0]))
            leases.publish({1: (0, SlotDemand(curve, pages=5, spent=3, learned=(0.5,)))})
        with open_store(place) as reader:
            saved = reader.saved_slots()
            assert saved is not None
            assert (saved.slots, saved.visits) == (SLOTS, {})
            assert json.dumps(saved.demands) == json.dumps(
                {1: [[1.0, 2.0], [4.0, 3.0], 5, 3, [0.5]]}
            )


def test_the_verbs_that_look_read_a_crawl_of_workers(tmp_path):
    """Also a block with a budget of its own, and pages of slots that were never saved."""
    terms = ['budget = "9/1d"\n', *[""] * (len(HOSTS) - 1)]
    asked = settings_of(terms)
    with crawled(asked, 8) as (place, _):
        text = text_of_settings(terms).replace("[storage]\n", f'[storage]\nstore = "{place}"\n')
        (tmp_path / "recrawl.toml").write_text(text)
        status = run("status", "--json", cwd=tmp_path)
        assert status.code == 0, status.err
        budgets = json.loads(status.out)["budgets"]
        assert [round(each["budget_per_day"], 6) for each in budgets] == [60.0, 9.0]
        pages = run("pages", "--csv", cwd=tmp_path)
        assert pages.code == 0, pages.err
        with open_store(place) as reader:
            names = reader.addresses(range(reader.page_count()))
        assert len(pages.out.splitlines()) == 1 + len(names)
        for verb in ("why", "history"):
            ended = run(verb, names[0], cwd=tmp_path)
            assert ended.code == 0, ended.err
