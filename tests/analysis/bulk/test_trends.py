import pyarrow.parquet as pq
import pytest

from recrawl.analysis.bulk.trends import TrendJob, trend_partitions
from recrawl.errors import InvalidTable
from tests.analysis.bulk.logs import by_page, divide, here, losing, rows, visits, write
from tests.cli.running import run_here


def trends(given, into, *, job=None, engine=here):
    return trend_partitions([str(given)], str(into), job or TrendJob(), engine=engine)


@pytest.mark.parametrize("parts", [1, 4])
def test_trends_of_partitions_are_those_of_the_whole(tmp_path, parts):
    """To the bit, with priors of sites that lie in all of them."""
    columns = visits(40)
    divide(tmp_path / "log", columns, by_page(columns, parts))
    report = trends(tmp_path / "log/*.parquet", tmp_path / "trends", engine=losing(1))
    whole = write(tmp_path / "whole.parquet", columns)
    run_here("trends", "pages", whole, "-o", tmp_path / "of-whole.parquet")

    assert rows(*(tmp_path / "trends").glob("*.parquet")) == rows(tmp_path / "of-whole.parquet")
    assert report.files.total == 40


def test_options_of_windows_hold(tmp_path):
    columns = visits(40)
    divide(tmp_path / "log", columns, by_page(columns, 3))
    into, whole = tmp_path / "trends", write(tmp_path / "whole.parquet", columns)
    options = ["--reading", "count", "--threshold", 2, "--level", 0.8, "--place", "random"]
    words = ["trends", "pages", tmp_path / "log/*.parquet", "--engine", "local", "-o", into]
    assert run_here(*words, "--csv").code == 2
    run_here("trends", "pages", whole, "-o", tmp_path / "of-whole.parquet", *options)
    from recrawl.trends.windows import Windowing

    job = TrendJob("random", Windowing(2.0, "count"), 0.8)
    trends(tmp_path / "log/*.parquet", into, job=job)

    assert rows(*into.glob("*.parquet")) == rows(tmp_path / "of-whole.parquet")
    assert pq.read_table(into / "part-0.parquet").column_names[0] == "page"


def test_a_page_in_two_partitions_is_refused(tmp_path):
    columns = visits(10)
    for name in ("a", "b"):
        write(tmp_path / f"{name}.parquet", columns)

    with pytest.raises(InvalidTable, match=r"a.parquet and b.parquet both hold visits of"):
        trends(tmp_path / "*.parquet", tmp_path / "trends")
