import pytest

from recrawl.errors import InvalidTable
from tests.adapters.tables.files import plain, rows_in, visits_in

HEADER = "page,visited_at,changed\n"


def log(folder, text):
    path = folder / "visits.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path):
    with pytest.raises(InvalidTable) as refused:
        rows_in(path)
    assert "\n" not in str(refused.value)
    return str(refused.value).removesuffix("; --skip-bad-rows skips rows without one")


def test_quotes_keep_commas_quotes_and_newlines(tmp_path):
    path = log(tmp_path, HEADER + '"a,b",1,\n"say ""so""",2,true\n"two\nlines",3,false\n')

    assert plain(rows_in(path)) == [("a,b", 1, -1), ('say "so"', 2, 1), ("two\nlines", 3, 0)]


def test_lines_may_end_as_on_windows(tmp_path):
    path = log(tmp_path, "page,visited_at,changed\r\n/a,1,true\r\n")

    assert plain(rows_in(path)) == [("/a", 1, 1)]


def test_the_last_line_need_not_end(tmp_path):
    assert plain(rows_in(log(tmp_path, HEADER + "/a,1,true"))) == [("/a", 1, 1)]


def test_a_mark_of_the_byte_order_is_no_part_of_the_header(tmp_path):
    path = log(tmp_path, b"\xef\xbb\xbf" + (HEADER + "/a,1,true\n").encode())

    assert plain(rows_in(path)) == [("/a", 1, 1)]


def test_blank_lines_are_no_rows(tmp_path):
    path = log(tmp_path, "\n" + HEADER + "\n/a,1,true\n\n\n")

    assert plain(rows_in(path)) == [("/a", 1, 1)]


def test_spaces_around_the_names_of_columns_do_not_matter(tmp_path):
    assert plain(rows_in(log(tmp_path, "page, visited_at, changed\n/a,1,true\n"))) == [("/a", 1, 1)]


def test_a_header_alone_is_an_empty_log(tmp_path):
    assert rows_in(log(tmp_path, HEADER)) == []


def test_lines_are_counted_through_quoted_newlines(tmp_path):
    """The line on which a row ends, as editors count."""
    path = log(tmp_path, HEADER + '"two\nlines",1,\n/a,soon,\n')

    assert refusal(path).startswith(f"{path}, line 4, column 'visited_at': ")


@pytest.mark.parametrize(("row", "cells"), [("/a,1", 2), ("/a,1,true,", 4), ("/a", 1)])
def test_a_row_must_be_as_long_as_the_header(tmp_path, row, cells):
    path = log(tmp_path, HEADER + f"/a,1,true\n{row}\n")

    sentence = f"must have as many cells as the header, 3 (got {cells})"
    assert refusal(path) == f"{path}, line 3: {sentence}"


def test_rows_of_another_length_may_be_skipped(tmp_path):
    path = log(tmp_path, HEADER + "/a,1\n/a,1,true\n/a,1,true,true\n")
    reading = visits_in(path, skip_bad_rows=True)

    assert plain(rows_in(reading)) == [("/a", 1, 1)]
    assert reading.table.skipped == 2


def test_a_nul_byte_is_refused(tmp_path):
    path = log(tmp_path, HEADER + "/a,1,true\n/\0,1,true\n")

    assert refusal(path) == f"{path}, line 3: must be text (got a NUL byte)"


def test_text_must_be_utf_8(tmp_path):
    path = log(tmp_path, HEADER.encode() + b"/\xe9,1,true\n")

    sentence = "must be UTF-8 text (got byte 0xe9); name its encoding"
    assert refusal(path).startswith(f"{path}, line 2: {sentence} with --encoding")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_text_may_be_utf_16_with_a_mark(tmp_path, encoding):
    """As spreadsheets write it; without a mark it is full of NUL bytes."""
    text = HEADER + "/é😀,1,true\n"
    marked = "\ufeff" + text if encoding == "utf-16-be" else text
    path = log(tmp_path, marked.encode(encoding))

    assert plain(rows_in(path)) == [("/é😀", 1, 1)]
    assert "must be " in refusal(log(tmp_path, text.encode("utf-16-le")))


def test_utf_16_that_is_cut_off_is_refused(tmp_path):
    path = log(tmp_path, (HEADER + "/a,1,true").encode("utf-16")[:-1])

    assert refusal(path) == f"{path}: must be whole UTF-16 text, as its first bytes announce"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(tmp_path, end):
    """And are counted alike."""
    text = HEADER + '"two\nlines",1,true\n/b,2,\n/c,soon,\n'
    path = log(tmp_path, text.replace("\n", end))

    assert refusal(path).startswith(f"{path}, line 5, column 'visited_at': ")
    path = log(tmp_path, text.replace("soon", "3").replace("\n", end))
    assert [row[0] for row in rows_in(path)] == [f"two{end}lines", "/b", "/c"]


def test_blocks_may_end_anywhere(tmp_path, monkeypatch):
    """In a line, in its end, in a letter; the rows are the same."""
    text = HEADER + "/é,1,true\r\n/😀,2,false\r\n"
    path = log(tmp_path, text)
    for size in range(1, len(text.encode()) + 1):
        monkeypatch.setattr("recrawl.adapters.tables.text_files._BLOCK", size)
        assert plain(rows_in(path)) == [("/é", 1, 1), ("/😀", 2, 0)]
        assert refusal(log(tmp_path, text + "/a,1\n")).startswith(f"{path}, line 4: ")
        assert refusal(log(tmp_path, text.encode() + b"\xff\n")).startswith(f"{path}, line 4: ")
        log(tmp_path, text)


def test_a_line_has_a_bound(tmp_path, monkeypatch):
    """Otherwise a file without line ends would be read into memory whole."""
    monkeypatch.setattr("recrawl.adapters.tables.text_files._LONGEST_LINE", 1000)
    monkeypatch.setattr("recrawl.adapters.tables.text_files._BLOCK", 100)
    path = log(tmp_path, HEADER + "/a,1,true\n" + "x" * 2000)

    assert refusal(path) == f"{path}, line 3: must be shorter than 1,000 bytes"


@pytest.mark.parametrize("row", ['"open,1,true\n', '"shut"x,1,true\n'])
def test_wrong_quotes_are_refused(tmp_path, row):
    path = log(tmp_path, HEADER + row)

    assert refusal(path).startswith(f"{path}, line 2: must be CSV (")


def test_a_column_must_not_be_there_twice(tmp_path):
    path = log(tmp_path, "page,visited_at,changed,page\n/a,1,true,/b\n")

    sentence = "column 'page' appears more than once (got page, visited_at, changed, page)"
    assert refusal(path) == f"{path}: {sentence}"


def test_a_column_nobody_asked_for_may_be_there_twice(tmp_path):
    path = log(tmp_path, "page,visited_at,changed,x,x\n/a,1,true,,\n")

    assert plain(rows_in(path)) == [("/a", 1, 1)]


def test_the_names_of_columns_in_an_error_stay_on_one_line(tmp_path):
    """A file of something else may have anything in its first line."""
    path = log(tmp_path, '"a\nb",c\n1,2\n')

    assert refusal(path).startswith(f"{path}: column 'page' not found (got ")


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_header_tells_what_separates_cells(tmp_path, mark):
    header = mark.join(["page", "visited_at", "changed", '"a,b;c|d,e;f|"'])
    path = log(tmp_path, header + "\n" + mark.join(["/a", "1", "true", '","']) + "\n")

    assert plain(rows_in(path)) == [("/a", 1, 1)]


def test_the_separator_may_be_forced(tmp_path):
    path = log(tmp_path, "page^visited_at^changed^a,b,c,d\n/a^1^true^\n")

    assert "column 'page' not found" in refusal(path)
    assert plain(rows_in(visits_in(path, delimiter="^"))) == [("/a", 1, 1)]


def test_a_single_column_is_no_log(tmp_path):
    path = log(tmp_path, "page\n/a\n")

    assert refusal(path) == f"{path}: column 'visited_at' not found (got page)"


def test_other_marks_in_the_names_of_columns_do_not_matter(tmp_path):
    path = log(tmp_path, "page,visited_at,changed,a;b|c\n/a,1,true,\n")

    assert plain(rows_in(path)) == [("/a", 1, 1)]


def test_an_error_about_many_columns_is_short(tmp_path):
    names = ",".join(f"column{number}" for number in range(5000))
    path = log(tmp_path, names + "\n")

    said = refusal(path)
    assert said.startswith(f"{path}: column 'page' not found (got column0, column1, ")
    assert said.endswith("...)")
    assert len(said) < 1000 + len(str(path))


def test_an_error_about_a_long_cell_is_short(tmp_path):
    """Somebody reads it on a terminal."""
    path = log(tmp_path, HEADER + f"/a,{'9' * 100_000},true\n")

    assert len(refusal(path)) < 1000 + len(str(path))


def test_many_rows_are_read_batch_by_batch(tmp_path):
    """A batch is 65536 rows; the position in the file goes on through all of them."""
    lines = "".join(f"/{row % 1000},{row},\n" for row in range(70_000))
    path = log(tmp_path, HEADER + lines)

    assert plain(rows_in(path)) == [(f"/{row % 1000}", row, -1) for row in range(70_000)]
