import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.analysis.bulk import estimate_file, fit_priors, sample_file
from recrawl.analysis.bulk.estimate import EstimateJob, estimate_partitions
from recrawl.errors import CannotWrite, InvalidParameter, InvalidTable, PartitionsFailed
from tests.analysis.bulk.logs import NOW, by_page, divide, here, losing, rows, visits, write

GAMMA = EstimateJob(now=NOW)


def run(files, folder, job=GAMMA, engine=here, **more):
    return estimate_partitions(
        [str(file) for file in files], str(folder), job, engine=engine, **more
    )


def results(folder):
    return rows(*sorted(folder.glob("*.parquet")))


def whole(tmp_path, columns, job=GAMMA):
    """Rates of the log in one file, by priors of its own."""
    path = write(tmp_path / "whole.parquet", columns)
    job.estimate((str(path), str(tmp_path / "of-whole.parquet")))
    return rows(tmp_path / "of-whole.parquet")


@settings(max_examples=12)
@given(parts=st.integers(1, 12), seed=st.integers(0, 1000), pages=st.integers(1, 60))
def test_rates_are_the_same_to_the_bit_however_a_log_is_divided(parts, seed, pages):
    columns = visits(pages, seed=seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = divide(folder / "log", columns, by_page(columns, parts, seed))
        run(files, folder / "out")

        assert results(folder / "out") == whole(folder, columns)


@pytest.mark.parametrize("method", ["npmle", "last-modified", "likelihood", "compare"])
def test_that_holds_for_every_method(tmp_path, method):
    """The last one is all of them."""
    columns, job = visits(), EstimateJob(method, now=NOW)
    run(divide(tmp_path / "log", columns, by_page(columns, 4)), tmp_path / "out", job)

    def key(row):
        return row["page"], row["method"]

    found, wanted = results(tmp_path / "out"), whole(tmp_path, columns, job)

    assert sorted(found, key=key) == sorted(wanted, key=key)


def test_a_site_of_many_pages_is_sampled_as_a_whole(tmp_path):
    """More pages than make a prior: which of them do depends on no partition."""
    columns = visits(6000, sites=1)
    run(divide(tmp_path / "log", columns, by_page(columns, 3)), tmp_path / "out")

    assert results(tmp_path / "out") == whole(tmp_path, columns)


def test_a_partition_may_be_larger_than_memory(tmp_path):
    columns = visits(300)
    files = divide(tmp_path / "log", columns, by_page(columns, 2))
    run(files, tmp_path / "out", EstimateJob(now=NOW, memory=2000))

    assert results(tmp_path / "out") == whole(tmp_path, columns)
    assert sorted(path.name for path in (tmp_path / "log").iterdir()) == [
        "part-0.parquet",
        "part-1.parquet",
    ]


def test_the_three_functions_do_the_same_on_any_engine(tmp_path):
    columns = visits()
    files = divide(tmp_path / "log", columns, by_page(columns, 3))
    samples = [str(tmp_path / f"{number}.npz") for number in range(3)]
    for file, sample in zip(files, samples, strict=True):
        sample_file(file, sample)
    fit_priors(samples, str(tmp_path / "priors.npz"))
    for number, file in enumerate(files):
        into = str(tmp_path / f"rates-{number}.parquet")
        report = estimate_file(file, into, priors=str(tmp_path / "priors.npz"), now=NOW)

        assert report.total == len(rows(into))

    assert rows(*tmp_path.glob("rates-*.parquet")) == whole(tmp_path, columns)


def test_priors_of_other_partitions_are_refused(tmp_path):
    columns = visits()
    first, second = (write(tmp_path / f"{part}.parquet", part_of(columns, part)) for part in (0, 1))
    sample_file(str(first), str(tmp_path / "sample.npz"))
    fit_priors([str(tmp_path / "sample.npz")], str(tmp_path / "priors.npz"))

    with pytest.raises(
        InvalidTable, match=r"site 's1.org' is in no sample; sample every partition"
    ):
        estimate_file(str(second), str(tmp_path / "out.csv"), priors=str(tmp_path / "priors.npz"))


def part_of(columns, site):
    """Visits of one site."""
    there = np.char.startswith(columns["page"], f"https://s{site}.")
    return {name: column[there] for name, column in columns.items()}


@pytest.mark.parametrize("method", ["gamma", "likelihood"])
def test_a_page_in_several_partitions_is_refused(tmp_path, method):
    """With and without priors, as of a log that is divided by time."""
    columns = visits()
    half = (np.arange(len(columns["page"])) > len(columns["page"]) / 2).astype(int)
    files = divide(tmp_path / "log", columns, half)
    wrong = (
        r"part-0.parquet and part-1.parquet both hold visits of https://.*; all visits of a page"
    )

    for _ in range(2):  # also by the run that finds all results there
        with pytest.raises(InvalidTable, match=wrong):
            run(files, tmp_path / "out", EstimateJob(method, now=NOW))


def test_a_page_cut_in_two_where_files_meet_is_found(tmp_path):
    """Rows by page, a thousand pages: too many for the few that are compared by their hashes."""
    columns = visits(1000)
    order = np.argsort(columns["page"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    page = columns["page"]
    cut = next(row for row in range(len(page) // 2, len(page)) if page[row] == page[row - 1])
    files = divide(tmp_path / "log", columns, (np.arange(len(page)) >= cut).astype(int))

    with pytest.raises(InvalidTable, match=f"both hold visits of {page[cut]};"):
        run(files, tmp_path / "out")


class StopAfter:
    """An engine that is interrupted after so many tasks."""

    def __init__(self, tasks):
        self.left, self.done = tasks, []

    def __call__(self, work, tasks):
        for number, task in enumerate(tasks):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            self.done.append(task)
            yield number, work(task)


@pytest.mark.parametrize("tasks", range(9))
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, tasks):
    """Four samples, four estimates: no task that was done is done again."""
    columns = visits()
    said: list[str] = []
    files = divide(tmp_path / "log", columns, by_page(columns, 4))
    first, second = StopAfter(tasks), StopAfter(99)
    if tasks < 8:
        with pytest.raises(KeyboardInterrupt):
            run(files, tmp_path / "out", EstimateJob(), first)
    else:
        run(files, tmp_path / "out", EstimateJob(), first)
    begun = json.loads((tmp_path / "out/_recrawl/run.json").read_text())["asked"]["now"]
    report = run(files, tmp_path / "out", EstimateJob(), second, remark=said.append)

    assert len(first.done) + len(second.done) == 8
    assert report.done_before == max(tasks - 4, 0)
    assert said == ([f"{tasks - 4} of 4 partitions were finished before."] if tasks > 4 else [])
    assert results(tmp_path / "out") == whole(tmp_path, columns, EstimateJob(now=begun))
    assert sorted(path.name for path in (tmp_path / "out").rglob("*") if path.is_file()) == [
        *(f"part-{number}.parquet" for number in range(4)),
        "run.json",
    ]


def test_results_of_another_question_are_not_mixed_in(tmp_path):
    columns = visits()
    files = divide(tmp_path / "log", columns, by_page(columns, 2))
    run(files, tmp_path / "out")

    with pytest.raises(CannotWrite, match="results of another run: method was 'gamma' and is now"):
        run(files, tmp_path / "out", EstimateJob("likelihood", now=NOW))
    with pytest.raises(CannotWrite, match=r"part-1.parquet is new, changed or missing since"):
        run(files[:1], tmp_path / "out")
    write(Path(files[0]), visits(30))
    with pytest.raises(CannotWrite, match=r"part-0.parquet is new, changed or missing since"):
        run(files, tmp_path / "out")


def test_a_file_that_no_run_has_written_is_left_alone(tmp_path):
    columns = visits()
    files = divide(tmp_path / "log", columns, by_page(columns, 2))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/part-1.parquet").write_text("mine")

    with pytest.raises(CannotWrite, match=r"part-1.parquet is there already and of no run"):
        run(files, tmp_path / "out")
    assert (tmp_path / "out/part-1.parquet").read_text() == "mine"


def test_inputs_are_never_overwritten(tmp_path):
    columns = visits()
    files = divide(tmp_path / "log", columns, by_page(columns, 2))

    with pytest.raises(CannotWrite, match="is an input, which is never overwritten"):
        run(files, tmp_path / "log")


def test_two_partitions_need_two_names(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "part.parquet", visits())

    with pytest.raises(InvalidTable, match=r"a/part.parquet and .*b/part.parquet would both be"):
        run([tmp_path / "a/part.parquet", tmp_path / "b/part.parquet"], tmp_path / "out")


def test_a_broken_partition_is_named_and_the_others_are_finished(tmp_path):
    columns = visits()
    files = divide(tmp_path / "log", columns, by_page(columns, 3))
    (tmp_path / "log/part-1.parquet").write_bytes(b"PAR1 and nothing else")

    with pytest.raises(PartitionsFailed) as failure:
        run(files, tmp_path / "out")
    said = str(failure.value)

    assert said.startswith("1 of 3 partitions failed, the others are finished: part-1.parquet (")
    assert said.count("\n") == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.parquet")) == [
        "part-0.parquet",
        "part-2.parquet",
    ]


@pytest.mark.parametrize("lost", [1, 2, 5])
def test_a_lost_task_is_tried_again(tmp_path, lost):
    columns = visits()
    files = divide(tmp_path / "log", columns, by_page(columns, 3))
    run(files, tmp_path / "out", engine=losing(lost))

    assert results(tmp_path / "out") == whole(tmp_path, columns)


def test_priors_are_made_anew_when_a_partition_comes_back(tmp_path):
    """Rates of the others were by priors without it: they are estimated again."""
    columns = visits()
    files = divide(tmp_path / "log", columns, by_page(columns, 3))
    attempts: list[int] = []

    def engine(work, tasks):
        """Cannot read one partition in the first run."""
        for number, outcome in here(work, tasks):
            fails = "part-1" in tasks[number][0] and len(attempts) < 3
            attempts.extend([1] * fails)
            yield number, type(outcome)(error="not now") if fails else outcome

    with pytest.raises(PartitionsFailed, match=r"part-1.parquet \(not now\)"):
        run(files, tmp_path / "out", engine=engine)
    (tmp_path / "out/_recrawl/passes/part-1.parquet.npz").unlink()
    run(files, tmp_path / "out", engine=engine)

    assert results(tmp_path / "out") == whole(tmp_path, columns)


def test_a_wrong_question_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InvalidParameter, match="method must be"):
        run([], tmp_path / "out", EstimateJob("guess", now=NOW))
    assert not (tmp_path / "out").exists()


def test_progress_goes_from_nothing_to_all(tmp_path):
    columns = visits()
    shown: list[float] = []
    files = divide(tmp_path / "log", columns, by_page(columns, 4))
    run(files, tmp_path / "out", progress=shown.append)

    assert shown == sorted(shown)
    assert shown[0] == pytest.approx(0.1)
    assert shown[-1] == 1.0
