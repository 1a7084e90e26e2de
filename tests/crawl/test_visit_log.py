"""A log that is appended to by one crawl after the other."""

import json

import pytest

from recrawl.crawl.visit_log import open_log

WHOLE = '{"visit": 1, "at": "2026-01-01T12:00:00.000Z"}\n'


def appended(path):
    with open_log(path) as file:
        file.write('{"visit": 3}\n')
    return path.read_text()


@pytest.mark.parametrize("torn", ['{"visit": 2, "at": "202', '{"vis', "{"])
def test_a_line_that_was_left_unfinished_is_taken_out(tmp_path, torn):
    """By a full disk, or a kill. The visit is in the store; the line would spoil the next."""
    path = tmp_path / "visits.jsonl"
    path.write_text(WHOLE + torn)

    lines = appended(path).splitlines()

    assert [json.loads(line)["visit"] for line in lines] == [1, 3]


def test_a_log_of_whole_lines_stays_as_it_is(tmp_path):
    path = tmp_path / "visits.jsonl"
    path.write_text(WHOLE)

    assert appended(path) == WHOLE + '{"visit": 3}\n'


def test_what_others_have_written_is_not_deleted(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes")

    assert appended(path) == 'my notes\n{"visit": 3}\n'


def test_a_log_that_is_new_or_empty_begins_at_once(tmp_path):
    (tmp_path / "empty.jsonl").touch()

    assert appended(tmp_path / "empty.jsonl") == '{"visit": 3}\n'
    assert appended(tmp_path / "new.jsonl") == '{"visit": 3}\n'
