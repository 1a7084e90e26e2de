"""Lines of the keys of a TOML text."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.settings.key_lines import key_lines


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1\nb = 2\n", ("b",), 2),
        ("# a = 1\n\n  a = 1", ("a",), 3),
        ("a = 1 # b = 2\nb = 2", ("b",), 2),
        ("[a]\nb = 1\n[c]\nb = 2", ("c", "b"), 4),
        ("[[a]]\nb = 1\n[[a]]\nb = 2", ("a", 1, "b"), 4),
        ("[[a]]\n[[a]]", ("a", 1), 2),
        ("[[a]]\n[a.b]\nc = 1\n[[a]]\n[a.b]\nc = 2", ("a", 1, "b", "c"), 6),
        ("[[a]]\n[[a.b]]\n[[a.b]]\nc = 1\n[[a]]\n[[a.b]]\nc = 2", ("a", 1, "b", 0, "c"), 7),
        ("x = 1\na . b . c = 1", ("a", "b", "c"), 2),
        ('"a.b" = 1\n\'c"d\' = 2', ('c"d',), 2),
        ('\n"\\u0061\\"" = 1', ('a"',), 2),
        ("x = 1\na = {b = 1, c = {d = 2}}", ("a", "c", "d"), 2),
        ("a = [\n  {b = 1},\n  {b = 2},\n]", ("a", 1, "b"), 3),
        ('a = ["x",\n\n"y"] # z\nb = 1', ("a", 1), 3),
        ("a = [ # ]\n 1,\n]\nb = 1", ("b",), 4),
        ('a = """\nb = 1\n"""\nb = 2', ("b",), 4),
        ("a = '''\n[b]\n'''\n[b]", ("b",), 4),
        ('a = """x\\"""\nb = 1"""\nb = 2', ("b",), 3),
        ('a = """x"""""\nb = 2', ("b",), 2),
        ("a = '''x'''''\nb = 2", ("b",), 2),
        ('a = """"""\nb = 2', ("b",), 2),
        ('a = ""\nb = 2', ("b",), 2),
        ('a = "]\\"#"\nb = 2', ("b",), 2),
        ("a = 1979-05-27 07:32:00\nb = 2", ("b",), 2),
        ("a = 1\r\nb = [\r\n2]\r\nc = 3", ("c",), 4),
        ("[ a . 'b' ]\nc = 1", ("a", "b", "c"), 2),
        ("[a.b]\n[a]\nc = 1", ("a", "c"), 3),
    ],
)
def test_a_key_is_found_where_it_stands(text, path, line):
    assert tomllib.loads(text)
    assert key_lines(text)[path] == line


def test_a_table_keeps_the_line_where_it_is_named_first():
    assert key_lines("[a.b]\n[a]\n") == {("a",): 1, ("a", "b"): 1}


def paths_in(value, path=()):
    """All keys of what the standard library read."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from paths_in(part, (*path, key))


# Documents that know where their keys stand: each key is named for its line.

blanks = st.sampled_from(["", " ", "\t", "  "])
comments = st.sampled_from(["", "", "# x = 1", '# "', "# [y]", "# '''", "#"])
strings = st.sampled_from(
    [
        '""',
        "''",
        '"a # b"',
        '"\\"] }"',
        "'\\'",
        '"""one\n\n[x]\ny = 1"""',
        "'''\nz = 2 # ]\n'''",
        '"""a\\"""\n"""""',
        "''''\n'''''",
        '""""""',
    ]
)
words = st.sampled_from(["1", "-1.5e3", "true", "inf", "1979-05-27", "1979-05-27 07:32:00Z"])
spellings = st.sampled_from(["{}", '"{}"', "'{}'"])


class Written:
    """A text that grows, and the line of every key by its name, which is in the text once."""

    def __init__(self, draw):
        self.draw = draw
        self.text = ""
        self.lines = {}

    def put(self, *parts):
        for part in parts:
            self.text += part if isinstance(part, str) else self.draw(part)

    def name(self):
        key = f"k{len(self.lines)}"
        self.lines[key] = self.text.count("\n") + 1
        self.put(self.draw(spellings).format(key))

    def header(self, opening, closing):
        self.put(opening, blanks)
        self.name()
        self.put(blanks, closing, blanks, comments)

    def pair(self, depth):
        for _ in range(self.draw(st.integers(0, 2))):
            self.name()
            self.put(blanks, ".", blanks)
        self.name()
        self.put(blanks, "=", blanks)
        self.value(depth)

    def value(self, depth):
        kinds = [self.string, self.word, self.array, self.table]
        self.draw(st.sampled_from(kinds if depth else kinds[:2]))(depth - 1)

    def string(self, _):
        self.put(strings)

    def word(self, _):
        self.put(words)

    def array(self, depth):
        self.put("[")
        for _ in range(self.draw(st.integers(0, 3))):
            self.put(blanks, comments, "\n")
            self.value(depth)
            self.put(blanks, st.sampled_from(["", "\n"]), ",")
        self.put(blanks, comments, "\n]")

    def table(self, depth):
        self.put("{")
        for number in range(self.draw(st.integers(0, 3))):
            self.put(blanks, "," if number else "", blanks)
            self.pair(depth)
        self.put(blanks, "}")


@st.composite
def documents(draw):
    """A text, and the line of every key by its name."""
    written = Written(draw)
    for _ in range(draw(st.integers(0, 6))):
        written.put(blanks, comments, "\n", blanks)
        opening, closing = draw(st.sampled_from([("", ""), ("[", "]"), ("[[", "]]")]))
        if opening:
            written.header(opening, closing)
        else:
            written.pair(2)
    written.put(st.sampled_from(["", "\n"]))
    return written.text, written.lines


@given(documents())
def test_every_key_of_any_document_is_found_on_its_line(document):
    text, lines = document

    found = key_lines(text)

    named = {path[-1]: line for path, line in found.items() if isinstance(path[-1], str)}
    assert named == lines


@given(documents())
def test_the_keys_are_those_that_the_standard_library_reads(document):
    text, _ = document

    assert set(key_lines(text)) == set(paths_in(tomllib.loads(text)))


@given(documents(), st.integers(1, 5))
def test_lines_above_move_all_keys_down(document, more):
    text, _ = document
    moved = key_lines("#\n" * more + text)

    assert moved == {path: line + more for path, line in key_lines(text).items()}


@given(documents())
def test_the_kind_of_line_ends_does_not_matter(document):
    text, _ = document

    assert key_lines(text.replace("\n", "\r\n")) == key_lines(text)


@given(
    st.lists(
        st.sampled_from(["a", "b", "c"]).flatmap(
            lambda name: st.sampled_from(
                [f"[{name}]", f"[[{name}]]", f"[{name}.d]", f"[[{name}.d]]", f"{name} = 1"]
            )
        ),
        max_size=12,
    )
)
def test_tables_that_come_again_are_told_apart(statements):
    """Whatever the standard library makes of headers in any order, where it accepts them."""
    text = "\n".join(statements)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return

    assert set(key_lines(text)) == set(paths_in(values))
