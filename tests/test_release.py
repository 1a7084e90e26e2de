"""Fragments of the changelog become the list of a release."""

import runpy
from pathlib import Path

import pytest

release = runpy.run_path(str(Path(__file__).parent.parent / "scripts" / "release.py"))
BEFORE = "# Changelog\n\n## Unreleased\n\n### Added\n\n- One.\n\n## 0.1.0\n\n- Zero.\n"


def folder_of(tmp_path, **fragments):
    for name, text in fragments.items():
        (tmp_path / f"{name.replace('_', '.')}.md").write_text(text)
    (tmp_path / "README.md").write_text("How to write one.")
    return tmp_path


def test_a_release_has_all_fragments_by_kind_and_what_stood_there(tmp_path):
    folder = folder_of(tmp_path, b_added="Two\nlines.\n", a_added="First.", c_breaking="Other way.")
    fragments = release["fragments_in"](folder)
    after = release["with_release"](BEFORE, fragments, "## 0.2.0 (2026-01-01)")

    assert after == (
        "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-01-01)\n\n"
        "### Breaking\n\n- Other way.\n\n"
        "### Added\n\n- One.\n- First.\n- Two lines.\n\n"
        "## 0.1.0\n\n- Zero.\n"
    )


def test_a_long_fragment_is_wrapped_and_no_word_broken(tmp_path):
    long = " ".join(["a-hyphenated-word"] * 20)
    after = release["with_release"](
        BEFORE, release["fragments_in"](folder_of(tmp_path, a_fixed=long)), "## 0.2.0"
    )
    lines = after[after.index("### Fixed") :].splitlines()[2:]

    assert max(map(len, lines)) <= 110
    assert " ".join(after.split("### Fixed")[1].split("##")[0].split()) == f"- {long}"


@pytest.mark.parametrize(("name", "text"), [("a_news", "Hello."), ("plain", "x"), ("a_added", " ")])
def test_a_fragment_that_cannot_be_joined_is_named(tmp_path, name, text):
    with pytest.raises(ValueError, match=name.replace("_", ".")):
        release["fragments_in"](folder_of(tmp_path, **{name: text}))
