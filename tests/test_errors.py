import inspect
import pickle

import pytest

from recrawl import errors


def _drawn():
    """Name and parent of each error, as the module's docstring draws them."""
    assert errors.__doc__ is not None
    tree, above = {}, {}
    for line in errors.__doc__.splitlines()[1:]:
        indent = len(line) - len(line.lstrip())
        if indent:
            name = line.split()[0]
            above[indent] = name
            tree[name] = above.get(indent - 2)
    return tree


CLASSES = {
    name: found
    for name, found in inspect.getmembers(errors, inspect.isclass)
    if found.__module__ == errors.__name__
}


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    defined = {name: found.__bases__[0].__name__ for name, found in CLASSES.items()}

    assert _drawn() == defined | {"RecrawlError": None}


@pytest.mark.parametrize("name", CLASSES)
def test_every_error_says_what_it_is_for(name):
    assert (CLASSES[name].__doc__ or "").split("\n")[0].endswith(".")


@pytest.mark.parametrize("name", [name for name in CLASSES if name.startswith("Invalid")])
def test_wrong_input_is_a_value_error(name):
    """People who know nothing of recrawl catch `ValueError`."""
    assert issubclass(CLASSES[name], ValueError)


def test_a_missing_extra_says_how_to_install_it():
    error = errors.MissingExtra("reading Parquet", "parquet")

    assert str(error) == "reading Parquet needs an optional package: pip install 'recrawl[parquet]'"


@pytest.mark.parametrize(
    "error",
    [errors.InvalidHistory("page 3: ..."), errors.MissingExtra("reading Parquet", "parquet")],
)
def test_errors_come_back_from_other_processes(error):
    """A pool of workers pickles what its workers raise."""
    back = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert type(back) is type(error)
    assert str(back) == str(error)
