"""What all pages of a host have in common."""

from recrawl.detect.masks.host_masks import HostMasks
from recrawl.detect.masks.masks import apply_masks, learn_masks
from recrawl.detect.text.lines import GAP


def test_a_mask_of_three_pages_is_for_all():
    host = HostMasks()
    for number in range(3):
        assert not host.shared()
        host.learn(f"/{number}", learn_masks(("a", "1:02 UTC"), ("a", "1:03 UTC")))

    assert apply_masks(("b", "5:06 UTC"), host.shared()) == ("b", f"{GAP} UTC")


def test_one_page_counts_once():
    host = HostMasks()
    for _ in range(5):
        host.learn("/1", learn_masks(("a", "1:02 UTC"), ("a", "1:03 UTC")))

    assert not host.shared()


def test_memory_is_bounded():
    host = HostMasks()
    for number in range(3):
        host.learn(f"/{number}", learn_masks(("a", "1:02 UTC"), ("a", "1:03 UTC")))
    for number in range(3000):
        host.learn("/x", learn_masks(("a", f"word{number}x 1"), ("a", f"word{number}x 2")))

    assert len(host.shared().masks) == 1
    assert len(host._pages) == len(host._masks) <= 1000
