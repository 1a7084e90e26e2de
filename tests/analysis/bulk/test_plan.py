import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recrawl
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.analysis.bulk.plan import PlanJob, plan_partitions
from recrawl.analysis.plan import PlanQuestion
from recrawl.errors import InvalidParameter, PartitionsFailed
from tests.analysis.bulk.logs import here, losing


def job(budget="40/1d", objective="harmonic", longest="", shortest=""):
    question = PlanQuestion.of(budget, objective, "", (longest, shortest), "periodic")
    return PlanJob(question, TableOptions())


def rates(count=200, *, uncertain=True, seed=0):
    random = np.random.default_rng(seed)
    rate = np.exp(random.normal(-2, 1.5, count))
    columns = {"page": [f"/{number}" for number in range(count)], "rate_per_day": rate}
    if uncertain:
        shape = np.exp(random.normal(0, 1, count))
        columns |= {"shape": shape, "exposure_days": shape / rate}
    return pa.table(columns)


def divide(folder, table, parts):
    folder.mkdir()
    for part in range(parts):
        rows = np.flatnonzero(np.arange(len(table)) % parts == part)
        pq.write_table(table.take(rows), folder / f"part-{part}.parquet")
    return str(folder / "*.parquet")


def planned(folder):
    tables = [pq.read_table(path) for path in sorted(folder.glob("*.parquet"))]
    return pa.concat_tables(tables).sort_by("page")


def check_same(found, whole):
    """Both spend the budget to ten digits; sums in another order move the eleventh."""
    whole = pa.table(whole).sort_by("page")
    assert found["page"].to_pylist() == whole["page"].to_pylist()
    for name in ("visits_per_day", "interval_days", "freshness", "value"):
        ours, theirs = (each[name].to_numpy() for each in (found, whole))
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("budget", ["40/1d", "0.1/page/1d", "2/change"])
@pytest.mark.parametrize("uncertain", [True, False])
def test_a_plan_of_partitions_is_that_of_the_whole(tmp_path, parts, budget, uncertain):
    table = rates(uncertain=uncertain)
    given = divide(tmp_path / "rates", table, parts)
    report = plan_partitions([given], str(tmp_path / "plan"), job(budget), engine=here)
    whole = recrawl.plan(table, budget=budget)

    check_same(planned(tmp_path / "plan"), whole)
    assert report.price == pytest.approx(whole.answer.plan.price, rel=1e-8)
    assert report.totals.spent == pytest.approx(whole.answer.plan.spent)
    assert report.totals.fresh / report.totals.weight == pytest.approx(
        whole.answer.plan.mean_freshness
    )
    assert report.passes <= 10


def test_one_partition_of_distributions_makes_all_of_them_such(tmp_path):
    """As one table would: its known rates are distributions that are very narrow."""
    sure, unsure = rates(50, uncertain=False), rates(100).slice(50)
    (tmp_path / "rates").mkdir()
    pq.write_table(sure, tmp_path / "rates/a.parquet")
    pq.write_table(unsure, tmp_path / "rates/b.parquet")
    given = str(tmp_path / "rates/*.parquet")
    plan_partitions([given], str(tmp_path / "plan"), job(), engine=here)
    whole = pa.concat_tables([sure, unsure], promote_options="default").combine_chunks()

    check_same(planned(tmp_path / "plan"), recrawl.plan(whole, budget="40/1d"))


def test_limits_of_pages_hold(tmp_path):
    table = rates()
    asked = job(longest="30d", shortest="2d")
    plan_partitions(
        [divide(tmp_path / "rates", table, 3)], str(tmp_path / "plan"), asked, engine=here
    )
    whole = recrawl.plan(table, budget="40/1d", max_interval="30d", min_interval="2d")

    check_same(planned(tmp_path / "plan"), whole)


def test_a_budget_for_less_than_the_floors_is_refused(tmp_path):
    given = divide(tmp_path / "rates", rates(), 3)

    with pytest.raises(InvalidParameter, match=r"budget must be at least .* max-interval asks"):
        plan_partitions([given], str(tmp_path / "plan"), job(longest="1d"), engine=here)


def test_a_lost_task_is_tried_again(tmp_path):
    table = rates()
    given = divide(tmp_path / "rates", table, 3)
    plan_partitions([given], str(tmp_path / "plan"), job(), engine=losing(4))

    check_same(planned(tmp_path / "plan"), recrawl.plan(table, budget="40/1d"))


def test_without_all_partitions_there_is_no_price(tmp_path):
    given = divide(tmp_path / "rates", rates(), 3)
    (tmp_path / "rates/part-1.parquet").write_bytes(b"PAR1 and nothing else")

    with pytest.raises(PartitionsFailed, match="1 of 3 partitions failed, and without all pages"):
        plan_partitions([given], str(tmp_path / "plan"), job(), engine=here)
    assert not list((tmp_path / "plan").glob("*.parquet"))


def test_a_run_goes_on_at_the_price_that_it_found(tmp_path):
    table = rates()
    given = divide(tmp_path / "rates", table, 3)
    plan_partitions([given], str(tmp_path / "plan"), job(), engine=here)
    (tmp_path / "plan/part-2.parquet").unlink()
    again = plan_partitions([given], str(tmp_path / "plan"), job(), engine=here)

    assert (again.done_before, again.passes) == (2, 0)
    check_same(planned(tmp_path / "plan"), recrawl.plan(table, budget="40/1d"))
