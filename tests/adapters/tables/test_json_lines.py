import json

import pytest

from recrawl import AnswerKind
from recrawl.errors import InvalidTable
from tests.adapters.tables.files import plain, rows_in, visits_in

GOOD = '{"page": "/a", "visited_at": 1, "changed": true}'


def log(folder, *lines):
    path = folder / "visits.jsonl"
    joined = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    path.write_bytes(joined + b"\n")
    return path


def visit(**cells):
    return json.dumps({"page": "/a", "visited_at": 1, "changed": True} | cells)


def refusal(path):
    with pytest.raises(InvalidTable) as refused:
        rows_in(path)
    assert "\n" not in str(refused.value)
    return str(refused.value).removesuffix("; --skip-bad-rows skips rows without one")


def test_values_may_have_the_types_of_json(tmp_path):
    """Numbers for times and codes, words for all of them, null for what is not known."""
    path = log(
        tmp_path,
        visit(visited_at=1.5, changed=False, status=404, last_modified=None),
        visit(visited_at="1970-01-01", changed="true", status="ok", last_modified="0.5"),
        visit(changed=None, status=None),
        visit(changed=1),
        visit(page=7, changed=0),
    )

    unknown = rows_in(path)[2][3]
    assert [row[:5] for row in rows_in(path)] == [
        ("/a", 1_500_000, 0, unknown, AnswerKind.GONE),
        ("/a", 0, 1, 500_000, AnswerKind.OK),
        ("/a", 1_000_000, -1, unknown, AnswerKind.OK),
        ("/a", 1_000_000, 1, unknown, AnswerKind.OK),
        ("7", 1_000_000, 0, unknown, AnswerKind.OK),
    ]


def test_whole_numbers_may_have_a_point(tmp_path):
    """JSON knows one kind of number, and a column with nulls becomes floating in many programs."""
    path = log(tmp_path, visit(status=404.0, changed=1.0, visited_at=1.0))

    assert [row[1:5:3] for row in rows_in(path)] == [(1_000_000, AnswerKind.GONE)]


def test_what_a_line_leaves_out_is_not_known(tmp_path):
    path = log(tmp_path, GOOD, '{"page": "/b", "visited_at": 2}')

    assert plain(rows_in(path)) == [("/a", 1, 1), ("/b", 2, -1)]


def test_blank_lines_are_no_rows(tmp_path):
    assert plain(rows_in(log(tmp_path, "", GOOD, "  ", "", GOOD))) == [("/a", 1, 1)] * 2


def test_a_mark_of_the_byte_order_does_not_matter(tmp_path):
    assert plain(rows_in(log(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()))) == [("/a", 1, 1)]


@pytest.mark.parametrize(
    "line", ["not JSON", "[1, 2]", "3", "null", '{"page": "/a"', "{} {}", "[" * 5000, "'{}'"]
)
def test_every_line_must_be_an_object(tmp_path, line):
    path = log(tmp_path, GOOD, line)

    sentence = f"{path}, line 2: must be a JSON object (got {line[:40]!r})"
    assert refusal(path) == sentence


def test_lines_that_are_no_objects_may_be_skipped(tmp_path):
    reading = visits_in(log(tmp_path, "not JSON", GOOD, "[]", b"\xff\xfe"), skip_bad_rows=True)

    assert plain(rows_in(reading)) == [("/a", 1, 1)]
    assert reading.table.skipped == 3


def test_text_must_be_utf_8(tmp_path):
    path = log(tmp_path, GOOD, b'{"page": "\xe9", "visited_at": 1, "changed": true}')

    assert refusal(path).startswith(f"{path}, line 2: must be ")


def test_blank_lines_alone_are_refused(tmp_path):
    path = log(tmp_path, "", " ")

    assert refusal(path) == f"{path}: must hold one object per line (got none)"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 400])
def test_a_time_must_be_finite(tmp_path, number):
    path = log(tmp_path, f'{{"page": "/a", "visited_at": {number}, "changed": true}}')

    assert refusal(path).startswith(f"{path}, line 1, column 'visited_at': must be a time")


@pytest.mark.parametrize("cell", [[1], {"a": 1}, [], {}])
@pytest.mark.parametrize("column", ["page", "visited_at", "changed"])
def test_a_cell_must_be_a_single_value(tmp_path, column, cell):
    path = log(tmp_path, visit(**{column: cell}))

    assert refusal(path).startswith(f"{path}, line 1, column '{column}': must ")


def test_half_a_letter_is_no_name(tmp_path):
    r"""JSON can write half of a surrogate pair, as "\ud800"; no UTF-8 text has it."""
    path = log(tmp_path, GOOD, visit(page="\ud800"))

    assert refusal(path).startswith(f"{path}, line 2, column 'page': must ")


def test_a_row_with_half_a_letter_may_be_skipped(tmp_path):
    reading = visits_in(log(tmp_path, GOOD, visit(page="/\udfff")), skip_bad_rows=True)

    assert plain(rows_in(reading)) == [("/a", 1, 1)]
    assert reading.table.skipped == 1


def test_columns_of_a_name_asked_for_may_come_late(tmp_path):
    """A column is there if any line has it."""
    path = log(tmp_path, GOOD, visit(code=404))
    reading = visits_in(path, {"status": "code"})

    assert [row[4] for row in rows_in(reading)] == [AnswerKind.OK, AnswerKind.GONE]


# A JSON array of the same objects.

ARRAY = """[
  {"page": "/a", "visited_at": 1, "changed": true},
  {"page": "/é😀", "visited_at": 2,
   "changed": null, "extra": [1, {"a": "}]"}]}
]
"""


@pytest.mark.parametrize("name", ["log.json", "log.jsonl", "log"])
@pytest.mark.parametrize("block", [1, 2, 7, 1 << 20])
def test_an_array_is_read_wherever_its_blocks_end(tmp_path, monkeypatch, name, block):
    monkeypatch.setattr("recrawl.adapters.tables.text_files._BLOCK", block)
    path = tmp_path / name
    path.write_text(ARRAY)

    assert plain(rows_in(path)) == [("/a", 1, 1), ("/é😀", 2, -1)]


def test_an_array_on_one_line_is_read(tmp_path):
    path = tmp_path / "log.json"
    path.write_text('[{"page":"/a","visited_at":1,"changed":true},{"page":"/b","visited_at":2}]')

    assert plain(rows_in(path)) == [("/a", 1, 1), ("/b", 2, -1)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[{"page": "/a"}', "line 1: must be a whole JSON array"),
        ('[\n{"page": "/a"},\n', "line 3: must be a whole JSON array"),
        ('[\n{"page": "/a"\n', "line 2: must be a whole JSON array"),
        ('[\n{"page": "/a"}\n{"page": "/b"}]', "line 3: must be a whole JSON array"),
        ('[{"page": "/a"},]', "line 1: must be a whole JSON array"),
        ('[{"page": "/a"}]\n{}', "line 2: must end with its array"),
        ("[\n,{}]", "line 2: must be a whole JSON array"),
        ('[\n{"page": "/a", "visited_at": 1, "changed": 1},\n5]', "line 3: must be a JSON object"),
        ("[ ]", "must hold one object per line (got none)"),
        ("[ " + "[" * 100_000, "line 1: must be a whole JSON array"),
    ],
)
def test_a_wrong_array_is_refused_with_its_line(tmp_path, text, sentence):
    path = tmp_path / "log.json"
    path.write_text(text)

    with pytest.raises(InvalidTable) as refused:
        rows_in(path)
    assert sentence in str(refused.value)


def test_what_is_no_object_in_an_array_may_be_skipped(tmp_path):
    path = tmp_path / "log.json"
    path.write_text('[{"page": "/a", "visited_at": 1, "changed": true}, "x", [2], null, 34]')
    reading = visits_in(path, skip_bad_rows=True)

    assert plain(rows_in(reading)) == [("/a", 1, 1)]
    assert reading.table.skipped == 4


def test_an_object_of_an_array_has_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("recrawl.adapters.tables.text_files._LONGEST_LINE", 1000)
    monkeypatch.setattr("recrawl.adapters.tables.text_files._BLOCK", 100)
    path = tmp_path / "log.json"
    path.write_text('[{"page": "' + "x" * 5000 + '"}]')

    with pytest.raises(InvalidTable, match=r"line 1: must have objects shorter than 1,000 letters"):
        rows_in(path)
