import inspect
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

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

    command = "pip install '.[parquet]' in the clone of recrawl"
    assert str(error) == f"reading Parquet needs an optional package: {command}"


@pytest.mark.parametrize(
    "error",
    [errors.InvalidHistory("page 3: ..."), errors.MissingExtra("reading Parquet", "parquet")],
)
def test_errors_come_back_from_other_processes(error):
    """A pool of workers pickles what its workers raise."""
    back = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert type(back) is type(error)
    assert str(back) == str(error)


_words = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\"'<>"))


@given(_words.map("hunter2{}".format), st.sampled_from(["http://me:", "https:me:", "x http:/me:"]))
def test_no_error_repeats_the_password_of_an_address(password, before):
    """Whatever it is made of: a slash in it should have been escaped, and often was not."""
    error = errors.InvalidSettings(f"{before}{password}@example.org/: no")

    assert "hunter2" not in str(error)


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_nor_does_one_that_is_cut(front, back):
    text = "x" * front + " http://me:hunter2hunter2@example.org/ " + "y" * back

    assert "hunter2" not in str(errors.InvalidSettings(text))


@pytest.mark.parametrize(
    "text",
    [
        'agent must have a contact (got "bot (me@example.org)")',
        "no page https://social.example/@me/1",
        "no page https://social.example:8443/@me/1",
        "no page https://example.org/a?mail=me@example.org",
        "at 12:30 me@example.org",
    ],
)
def test_what_is_no_password_stays(text):
    assert str(errors.InvalidSettings(text)) == text
