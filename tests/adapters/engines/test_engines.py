"""Real engines on small partitions: processes, Ray and Spark give the same bytes.

Ray and Spark are 0.7 GB; `scripts/test` installs them where it can. Where one is missing its tests
are reported as skipped.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.adapters.engines.isolated import environment, missing
from tests.analysis.bulk.logs import by_page, divide, rows, visits, write, write_index


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A log in five partitions, and one of which a partition is broken."""
    folder = tmp_path_factory.mktemp("engines")
    columns = visits()
    divide(folder / "log", columns, by_page(columns, 5))
    write_index(folder)
    (folder / "broken").mkdir()
    write(folder / "broken/part-0.parquet", columns)
    (folder / "broken/part-1.parquet").write_bytes(b"PAR1 and nothing else")
    return folder


@pytest.fixture(scope="module")
def drives():
    """What came of each engine; each is started once."""
    return {}


@pytest.fixture(params=["local", "ray", "spark"])
def driven(request, folder, drives):
    """What came of an engine."""
    engine = request.param
    if missing(engine):
        pytest.skip(missing(engine))
    if engine not in drives:
        drives[engine] = drive(engine, folder)
    return engine, drives[engine]


def drive(engine, folder):
    # Names of sockets are short, so this home is as near to the root as can be.
    with tempfile.TemporaryDirectory(prefix="e", dir="/tmp") as home:
        words = [sys.executable, "-m", "tests.adapters.engines.drive", engine, str(folder)]
        ended = subprocess.run(
            words,
            capture_output=True,
            check=False,
            cwd=home,
            env=environment(Path(home)),
            text=True,
            timeout=600,
        )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def test_what_a_task_returns_or_raises_is_an_outcome(driven):
    _, found = driven
    wrong = "ValueError: invalid literal for int() with base 10: 'x'"

    assert found["outcomes"] == [[1, ""], [2, ""], [None, wrong], [4, ""]]


def test_a_worker_that_is_killed_takes_only_its_task_with_it(driven):
    _, found = driven
    first, second, third = found["killed"]

    assert (first, third) == ("", "")
    assert "killed" in second or "lost" in second


def test_what_was_lost_with_a_worker_is_tried_again(driven):
    assert driven[1]["tried again"] == {"part-0": "done", "part-1": "done"}


def test_a_broken_partition_is_named_and_the_others_are_finished(driven, folder):
    engine, found = driven
    failed = "1 of 2 partitions failed, the others are finished: part-1.parquet ("

    assert found["broken"]["code"] == 1
    assert found["broken"]["error"].startswith(failed)
    assert (folder / engine / "broken/part-0.parquet").exists()


def test_leaving_an_engine_ends_its_tasks(driven):
    assert driven[1]["seconds"] < 500


@pytest.mark.parametrize("verb", ["estimate", "trends", "plan", "import"])
def test_a_verb_writes_the_same_bytes_on_every_engine(driven, drives, folder, verb):
    engine, found = driven
    if "local" not in drives:
        drives["local"] = drive("local", folder)
    where = {"estimate": "rates"}.get(verb, verb)
    ours, theirs = (written(folder / name / where) for name in ("local", engine))

    assert found[verb]["code"] == 0, found[verb]
    assert len(ours) == (2 if verb == "import" else 5)
    assert ours == theirs


def test_the_example_gives_the_same_rates_on_every_engine(driven, drives, folder):
    engine, _ = driven
    if "local" not in drives:
        drives["local"] = drive("local", folder)
    ours, theirs = (written(folder / name / "example/rates") for name in ("local", engine))

    assert len(rows(*(folder / "local/example/rates").glob("*.parquet"))) == 10
    assert ours == theirs


def written(folder):
    """Bytes of all results, by name."""
    files = [path for path in sorted(folder.iterdir()) if path.name != "_recrawl"]
    return {path.name: path.read_bytes() for path in files}
