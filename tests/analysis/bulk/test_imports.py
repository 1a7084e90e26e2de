import pyarrow.parquet as pq
import pytest

import recrawl
from recrawl.analysis.bulk.imports import ImportJob, import_partitions
from recrawl.errors import CannotWrite, PartitionsFailed
from tests.analysis.bulk.logs import here, write_index
from tests.fuzz.real_files import FOLDER


def visits(*files):
    return sorted(
        (row["page"], row["visited_at"], row["digest"])
        for file in files
        for row in pq.read_table(file).to_pylist()
    )


def test_every_shard_of_an_index_is_a_partition(tmp_path):
    index, into = write_index(tmp_path), tmp_path / "visits"
    report = import_partitions([str(index)], str(into), ImportJob(), engine=here)
    names = [f"shard-{number}.cdx.gz.parquet" for number in range(2)]
    whole = recrawl.read_visits(str(index))

    assert sorted(path.name for path in into.glob("*.parquet")) == names
    assert report.files.total == len(whole) == 70
    assert [page for page, *_ in visits(*into.glob("*.parquet"))] == sorted(whole.column("page"))


def test_files_may_lie_elsewhere(tmp_path):
    """Named one by one, by an address."""
    write_index(tmp_path)
    given = f"{tmp_path.as_uri()}/shard-*.cdx.gz"
    import_partitions([given], str(tmp_path / "visits"), ImportJob(by_key=True), engine=here)
    found = visits(*(tmp_path / "visits").glob("*.parquet"))

    assert len(found) == 70
    assert found[0][0] == "org,example)/00"


def test_another_reading_into_the_same_folder_is_refused(tmp_path):
    index, into = write_index(tmp_path), str(tmp_path / "visits")
    import_partitions([str(index)], into, ImportJob(), engine=here)

    with pytest.raises(CannotWrite, match="by-key was False and is now True"):
        import_partitions([str(index)], into, ImportJob(by_key=True), engine=here)


def test_a_file_that_is_no_index_is_named(tmp_path):
    index = write_index(tmp_path)
    (tmp_path / "shard-1.cdx.gz").write_text("nonsense\n" * 9, encoding="utf-8")

    with pytest.raises(PartitionsFailed, match=r"1 of 2 partitions failed.*shard-1.cdx.gz \("):
        import_partitions([str(index)], str(tmp_path / "visits"), ImportJob(), engine=here)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs ../shared/data/archives")
def test_the_index_of_a_real_archive(tmp_path):
    index = FOLDER / "pywb_zipnum-sample.idx"
    report = import_partitions([str(index)], str(tmp_path / "visits"), ImportJob(), engine=here)

    assert report.files.total == len(recrawl.read_visits(str(index)))
