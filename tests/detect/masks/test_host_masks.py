"""What all pages of a host have in common."""

from recrawl.detect.masks.host_masks import HostMasks
from recrawl.detect.masks.masks import learnt, masked
from recrawl.detect.text.lines import GAP


def test_a_mask_of_three_pages_is_for_all():
    host = HostMasks()
    for number in range(3):
        assert not host.shared()
        host.learnt(f"/{number}", learnt(("a", "1:02 UTC"), ("a", "1:03 UTC")))

    assert masked(("b", "5:06 UTC"), host.shared()) == ("b", f"{GAP} UTC")


def test_one_page_counts_once():
    host = HostMasks()
    for _ in range(5):
        host.learnt("/1", learnt(("a", "1:02 UTC"), ("a", "1:03 UTC")))

    assert not host.shared()


def test_memory_is_bounded():
    host = HostMasks()
    for number in range(3):
        host.learnt(f"/{number}", learnt(("a", "1:02 UTC"), ("a", "1:03 UTC")))
    for number in range(3000):
        host.learnt("/x", learnt(("a", f"word{number}x 1"), ("a", f"word{number}x 2")))

    assert len(host.shared().masks) == 1
    assert len(host._pages) == len(host._masks) <= 1000
