"""Examples of a language by its rules, for parsers that refuse nearly all that chance makes.

A rule is a name and its alternatives; `<name>` in an alternative stands for one of that rule's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

_RULE = re.compile(r"<([a-z_]+)>")
_DEEPEST = 20


def generator(rules: Mapping[str, Sequence[str]], first: str) -> Callable[[Random], bytes]:
    """Return what makes an example: one alternative after the other, chosen by chance."""

    def expanded(name: str, random: Random, depth: int) -> str:
        choices = rules[name]
        chosen = choices[0] if depth > _DEEPEST else random.choice(choices)
        return _RULE.sub(
            lambda found: expanded(found[1], random, depth + 1) if found[1] in rules else found[0],
            chosen,
        )

    return lambda random: expanded(first, random, 0).encode("utf-8", "surrogatepass")
