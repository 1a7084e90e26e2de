import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recrawl.entries.entries import Checkpoint
from recrawl.errors import InvalidParameter
from recrawl.store import create_store, open_store
from recrawl.store.rows import checkpoints
from tests.store.made import numbered, store_with, visit
from tests.store.sqlite.connection import connection_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pages.db"


def loaded(path):
    with open_store(path) as reader:
        found = reader.checkpoint()
    assert found is not None
    return found


def test_nothing_is_known_before_the_first_saving(path):
    with create_store(path) as store, open_store(path) as reader:
        assert reader.checkpoint() is None
        store.write([Checkpoint({}, visit=0)])
        assert reader.checkpoint() == ({}, 0)


def test_a_saving_replaces_everything(path):
    with create_store(path) as store:
        store.write([Checkpoint({"rates": np.arange(5.0), "gone": [1]}, visit=3)])
        store.write([Checkpoint({"rates": np.arange(2, dtype=np.float32), "price": 0.1}, visit=8)])
        parts, visit = loaded(path)

    assert visit == 8
    assert sorted(parts) == ["price", "rates"]
    assert parts["rates"].dtype == np.float32
    assert parts["rates"].tolist() == [0, 1]
    assert parts["price"] == 0.1


def test_without_a_number_it_knows_of_the_visits_written_before_it(path):
    """Also of those in the same transaction, but not of those that come after."""
    with store_with(path, *numbered(1)) as store:
        store.write([visit(0)])
        store.write([visit(0, 1), Checkpoint({"a": 1}), visit(0, 2)])

        assert loaded(path) == ({"a": 1}, 2)


def test_a_reader_takes_only_the_parts_it_names(path):
    with create_store(path) as store:
        store.write([Checkpoint({"a": 1, "b": np.zeros(3)}, visit=2)])

    with open_store(path) as reader:
        assert reader.checkpoint(["a"]) == ({"a": 1}, 2)


_arrays = st.one_of(
    hnp.arrays(
        st.sampled_from(["f4", "f8", "i8", "u1", "?", "M8[us]", ">i4"]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
    ),
    hnp.arrays([("rate", "f4"), ("pair", "i2", (2,))], hnp.array_shapes(max_dims=1)),
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), _arrays | _values, max_size=3))
def test_parts_come_back_to_the_bit(tmp_path_factory, parts):
    path = tmp_path_factory.mktemp("checkpoint") / "pages.db"
    with create_store(path) as store:
        store.write([Checkpoint(parts, visit=1)])
        back, _ = loaded(path)

    assert back.keys() == parts.keys()
    for name, part in parts.items():
        if isinstance(part, np.ndarray):
            assert (back[name].dtype, back[name].shape) == (part.dtype, part.shape)
            assert back[name].tobytes() == part.tobytes()
        else:
            assert back[name] == part


def test_large_arrays_lie_in_blocks_and_shrink(path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_BLOCK", 64)
    count = "select count(*) from checkpoint"
    with create_store(path) as store:
        store.write([Checkpoint({"a": np.arange(100)}, visit=1)])
        assert connection_of(store).execute(count).get == 1 + 13
        store.write([Checkpoint({"a": np.arange(20)[::2]}, visit=1)])
        assert connection_of(store).execute(count).get == 1 + 2
        parts, _ = loaded(path)

    assert parts["a"].tolist() == list(range(0, 20, 2))


@pytest.mark.parametrize("part", [np.array([object()]), object(), {1, 2}])
def test_what_cannot_be_written_leaves_what_was(path, part):
    with create_store(path) as store:
        store.write([Checkpoint({"a": 1}, visit=1)])
        with pytest.raises(InvalidParameter, match="checkpoint part 'b': "):
            store.write([Checkpoint({"a": 2, "b": part}, visit=2)])

        assert loaded(path) == ({"a": 1}, 1)
