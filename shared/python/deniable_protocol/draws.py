"""Random integers, exactly uniform, from a source of bytes.

May not: use floating point, keep unused randomness (nothing can be reused after a fork or by another thread),
or take randomness from anywhere but the source it is given, which defaults to the operating system's.
"""

from __future__ import annotations

import os
from collections.abc import Callable

RandomBytes = Callable[[int], bytes]
"""A source: called with n, returns n random bytes. ``os.urandom`` on every real device."""


class Draws:
    """The three ways in which a channel uses randomness. The order and size of draws is part of the protocol."""

    __slots__ = ("read",)

    bits = 53  # log2 of N. Tests drive every possible word of a narrower class; nothing else may change it.

    def __init__(self, read: RandomBytes = os.urandom) -> None:
        self.read = read

    def word(self) -> int:
        """Uniform on 0 ... N-1: eight bytes, most significant first, the low 11 bits dropped."""
        return int.from_bytes(self.read(8), "big") >> 11

    def chance(self, favour: int) -> bool:
        """True with probability exactly favour/N: just ``favour`` of the N equally likely words lie below it."""
        return self.word() < favour

    def below(self, n: int) -> int:
        """Uniform on 0 ... n-1. No draw where n is 1, else words until one is accepted.

        Words from the largest multiple of n upwards are thrown away; below it every remainder has the same
        number of words, so each value has probability exactly 1/n. A word is kept with probability above 1/2.
        """
        if n == 1:
            return 0
        size = 1 << self.bits
        limit = size - size % n
        while True:
            word = self.word()
            if word < limit:
                return word % n


SYSTEM = Draws()
"""Draws from the operating system. It keeps nothing between draws, so that threads and forks may share it."""
