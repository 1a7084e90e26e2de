import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.texts import Texts
from recrawl.visits.batch import Batch


def listed(batch):
    """(page, position, site, rows) of each run, a row as a tuple of its columns."""
    columns = [batch.at, batch.changed, batch.last_modified, batch.answer, batch.digest]
    rows = list(zip(*(column.tolist() for column in columns if column is not None), strict=True))
    ends = np.cumsum(batch.run_lengths())
    starts = ends - batch.run_lengths()
    sites = batch.site.tolist() if batch.site is not None else [None] * len(batch.names)
    return [
        (page, position, site, rows[start:end])
        for page, position, site, start, end in zip(
            batch.names.tolist(), batch.run_positions().tolist(), sites, starts, ends, strict=True
        )
    ]


@st.composite
def _batches(draw):
    """Runs of one row or of several; a batch that begins in the middle of its log, or has gaps."""
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    if draw(st.booleans()):
        lengths = [1] * len(lengths)
    rows, full, gaps = sum(lengths), draw(st.booleans()), draw(st.booleans())
    names = [f"/{number % 4}" for number in range(len(lengths))]
    single = max(lengths) == 1 and draw(st.booleans())
    return Batch(
        names=Texts.of(names),
        at=np.arange(rows) * 10,
        changed=(np.arange(rows) % 3 - 1).astype(np.int8),
        lengths=None if single else np.array(lengths),
        position=np.arange(len(lengths)) * 100 if gaps else 5,
        last_modified=np.arange(rows) * 7 if full else None,
        answer=(np.arange(rows) % 4).astype(np.uint8) if full else None,
        site=Texts.of([name * 2 for name in names]) if full else None,
        digest=np.arange(rows, dtype=np.uint64) if full else None,
    )


def test_a_run_stands_where_its_first_row_stands():
    batch = Batch(Texts.of(["/a", "/b"]), np.arange(5), np.zeros(5, np.int8), np.array([3, 2]), 10)

    assert batch.run_positions().tolist() == [10, 13]
    assert batch.positions_of(np.array([1])).tolist() == [13]


def test_without_lengths_every_row_is_a_run():
    batch = Batch(Texts.of(["/a", "/b"]), np.arange(2), np.zeros(2, np.int8), position=10)

    assert batch.run_lengths().tolist() == [1, 1]
    assert batch.positions_of(np.array([1, 0])).tolist() == [11, 10]


@given(_batches(), st.data())
def test_take_keeps_runs_whole(batch, data):
    runs = data.draw(st.lists(st.integers(0, len(batch.names) - 1), unique=True))
    whole = listed(batch)

    assert listed(batch.take(np.array(runs, np.int64))) == [whole[run] for run in runs]


@given(_batches(), st.data())
def test_rows_leaves_out_runs_that_lose_all_of_theirs(batch, data):
    """A run that loses some still stands where it stood."""
    count = len(batch.at)
    wanted = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    flags = iter(wanted)
    cut = [
        (page, position, site, [row for row in rows if next(flags)])
        for page, position, site, rows in listed(batch)
    ]

    left = batch.rows(np.array(wanted, np.bool_))

    assert listed(left) == [run for run in cut if run[3]]


@given(_batches())
def test_hashes_go_with_their_runs(batch):
    hashed = batch.hashed(seed=3)
    last = len(batch.names) - 1
    key, check = batch.names.hashes(seed=3)

    taken = hashed.take(np.array([last]))

    assert taken.key is not None
    assert taken.check is not None
    assert (taken.key.tolist(), taken.check.tolist()) == ([key[last]], [check[last]])
    assert taken.identity() == hashed.identity()[last]


def test_size_grows_with_rows_names_and_columns():
    """What a piece may take is counted in it; a batch that counts as nothing would never end."""

    def size(rows, names, **columns):
        lengths = np.full(names, rows // names)
        texts = Texts.of(["/a"] * names)
        return Batch(texts, np.arange(rows), np.zeros(rows, np.int8), lengths, **columns).size

    plain = size(100, 10)
    assert plain >= 100 * (8 + 1)
    assert size(200, 10) > plain
    assert size(100, 20) > plain
    assert size(100, 10, last_modified=np.arange(100)) >= plain + 100 * 8
