"""Bytes that hardly shrink and mean nothing, the same in every run."""

import random


def noise(size: int, seed: int = 0) -> bytes:
    """So many bytes; others for another seed."""
    return random.Random(seed).randbytes(size)  # noqa: S311 - no secrets
