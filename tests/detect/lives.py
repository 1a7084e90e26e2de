"""A page as a crawl lives with it: visits, second requests where a crawl makes them, and masks.

What is looked at twice is drawn by the very `Trust` of a crawl, of a host that has this page alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.detect.change import OldVersion, compare, signature
from recrawl.detect.diff.share import share_changed
from recrawl.detect.masks.masks import NO_MASKS, apply_masks, is_mask_displaced, learn_masks
from recrawl.detect.recent_texts import RevertedTexts
from recrawl.frontier.host_table import HostTable
from recrawl.state.trust import Trust
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.detect.change import Change
    from recrawl.detect.masks.masks import Masks

    Fetch = Callable[[bool], Sequence[str]]  # whether right after another; to the lines of a page

_AS_BY_ITSELF = 1.5  # as in a crawl: what differs little more than by itself has not changed


class Life:
    """A page that is visited."""

    def __init__(self, seed: int) -> None:
        self.trust = Trust(HostTable(delay=0.0), np.random.default_rng(seed))
        self.trust.grow(1)
        self.masks = NO_MASKS
        self.copy: Sequence[str] = ()
        self._returns = RevertedTexts()

    def visit(self, fetch: Fetch) -> bool:
        """Visit the page; returns whether a change is reported."""
        new = fetch(False)
        if not self.copy:
            self.copy = new
            return False
        changed = self._judged(new, self.masks).outcome is VisitOutcome.CHANGED
        if self.trust.draw_sample(0):
            changed = self._checked(new, fetch(True), sampled=True)
        elif changed and (self._is_doubtful(new) or self.trust.refetch_changed(0, 0)):
            changed = self._checked(new, fetch(True), sampled=False)
        if changed:
            self.copy = new
        return changed

    def _judged(self, new: Sequence[str], masks: Masks) -> Change:
        return compare(OldVersion(self.copy, signature(apply_masks(self.copy, masks))), new, masks)

    def _is_doubtful(self, new: Sequence[str]) -> bool:
        """Whether a change undoes another, or takes the place of a mask away."""
        texts = (signature(apply_masks(lines, self.masks)) for lines in (new, self.copy))
        return self._returns.seen(0, *texts) or is_mask_displaced(self.copy, new, self.masks)

    def _checked(self, new: Sequence[str], second: Sequence[str], *, sampled: bool) -> bool:
        masks = learn_masks(new, second, self.masks)
        left = share_changed(apply_masks(new, masks), apply_masks(second, masks))
        differed = apply_masks(new, self.masks) != apply_masks(second, self.masks)
        taught = masks != self.masks
        self.trust.count_pair(0, 0, differed=differed, masked=taught, sampled=sampled)
        self.masks = masks
        found = self._judged(new, masks)
        return found.outcome is VisitOutcome.CHANGED and found.share > _AS_BY_ITSELF * left
