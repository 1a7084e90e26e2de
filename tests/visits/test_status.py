from recrawl.visits.status import Audit, PageStatus, VisitOutcome


def test_numbers_on_disk_keep_their_meaning():
    """Stores of today are read by the programs of tomorrow."""
    assert [status.label for status in PageStatus] == [
        "new",
        "copied",
        "suspected",
        "gone",
        "refused",
        "moved",
        "removed",
        "erased",
        "duplicate",
    ]
    assert [outcome.label for outcome in VisitOutcome] == [
        "first",
        "same",
        "not_modified",
        "changed",
        "gone",
        "failed",
        "refused",
        "moved",
        "cosmetic",
        "walled",
        "duplicate",
    ]
    assert [audit.label for audit in Audit] == ["none", "word", "noise"]
    assert [*PageStatus] == list(range(9))
    assert [*VisitOutcome] == list(range(11))
