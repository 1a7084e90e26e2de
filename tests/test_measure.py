"""What the numbers of the house count."""

import runpy
from pathlib import Path

measure = runpy.run_path(str(Path(__file__).parent.parent / "scripts" / "measure.py"))


def test_a_short_module_with_one_importer_in_its_room_is_a_sliver():
    """One that the package itself imports, or a second module, is none."""
    texts = {
        "pack": "from pack.room import offered",
        "pack.room": "",
        "pack.room.offered": "",
        "pack.room.one": "from pack.room.small import x\nfrom pack.room.shared import y",
        "pack.room.two": "import pack.room.shared",
        "pack.room.small": "x = 1",
        "pack.room.shared": "y = 1",
    }

    assert measure["slivers"](texts) == ["pack.room.small"]


def test_docstrings_comments_and_blank_lines_are_no_code():
    text = '"""Head."""\n\n# why\ndef f():\n    """Say."""\n    return """a\nb"""\n'

    assert measure["code_lines"](text) == 3
