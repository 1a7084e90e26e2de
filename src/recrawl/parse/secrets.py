"""Texts that nobody may see: passwords, tokens, values of cookies.

Pure.
"""

from __future__ import annotations

from typing import NoReturn


class Secret:
    """A text that shows itself to nobody, and that nothing writes down by accident.

    It can be neither printed nor copied, pickled or made into JSON. Whoever sends it says so with
    `reveal`.

    Args:
        text: The text.

    Examples:
        >>> secret = Secret("hunter2")
        >>> secret, f"{secret}"
        (Secret(...), 'Secret(...)')
        >>> secret.reveal()
        'hunter2'
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        """Hide the text."""
        return "Secret(...)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise TypeError("a secret is not written down")

    def reveal(self) -> str:
        """The text, for whoever it is sent to."""
        return self._text
