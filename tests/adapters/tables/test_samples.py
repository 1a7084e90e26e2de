"""Samples of partitions, written and read again."""

import numpy as np
import pytest

from recrawl.adapters.tables.samples import SampleFile, SitePriors
from recrawl.analysis.bulk import fit_priors, sample_file
from recrawl.errors import InvalidTable
from tests.analysis.bulk.logs import visits, write


@pytest.fixture
def sample(tmp_path):
    write(tmp_path / "log.parquet", visits(20))
    sample_file(str(tmp_path / "log.parquet"), str(tmp_path / "sample.npz"))
    return tmp_path / "sample.npz"


def test_a_sample_is_read_as_it_was_written(sample, tmp_path):
    found = SampleFile.read(str(sample))
    found.write(tmp_path / "again.npz")
    again = SampleFile.read(str(tmp_path / "again.npz"))

    assert again.sites.tolist() == found.sites.tolist()
    assert sorted(found.sites.tolist()) == [f"s{number}.org" for number in range(5)]
    assert (again.sample.histories.gaps == found.sample.histories.gaps).all()
    assert (again.sample.hashes == found.sample.hashes).all()


@pytest.mark.parametrize("kept", [0, 10, 1000, -1])
def test_a_sample_that_is_not_whole_is_refused(sample, kept):
    sample.write_bytes(sample.read_bytes()[:kept])

    with pytest.raises(InvalidTable, match=r"sample.npz is damaged; remove it and run again"):
        SampleFile.read(str(sample))


@pytest.mark.parametrize("changed", ["site", "histories.offsets", "hashes"])
def test_a_sample_that_contradicts_itself_is_refused(sample, changed):
    with np.load(sample) as arrays:
        columns = dict(arrays)
    if changed == "hashes":
        del columns["hashes"]
    else:
        columns[changed] = columns[changed] + 99
    np.savez(sample, **columns)

    with pytest.raises(InvalidTable, match=r"sample.npz is damaged"):
        SampleFile.read(str(sample))


def test_priors_that_are_not_whole_are_refused(sample, tmp_path):
    fit_priors([str(sample)], str(tmp_path / "priors.npz"))
    whole = SitePriors.read(str(tmp_path / "priors.npz"))
    (tmp_path / "priors.npz").write_bytes((tmp_path / "priors.npz").read_bytes()[:-9])

    assert len(whole.priors.shape) == 5
    with pytest.raises(InvalidTable, match=r"priors.npz is damaged"):
        SitePriors.read(str(tmp_path / "priors.npz"))


def test_a_missing_sample_is_named(tmp_path):
    with pytest.raises(InvalidTable, match=r"none.npz cannot be read \(no such file"):
        SampleFile.read(str(tmp_path / "none.npz"))
