"""Channels in the words that people read."""

from __future__ import annotations

from deniable_protocol import Band, Channel, Drawn, Question, Subset


def channel_in_words(question: Question, channel: Channel) -> str:
    """How the answers to a question are randomised."""
    if isinstance(channel, Subset):
        size, options = channel.size, channel.options
        return f"subsets of {size} of {options} answers" if size > 1 else f"one of {options} answers (k-ary response)"
    if isinstance(channel, Band):
        return "a noisy bit" if channel.levels == 2 else f"bands {channel.width} wide on {channel.levels} levels"
    if isinstance(channel, Drawn):
        return f"a noisy bit on one of {len(channel.parts)} options"
    # A published document may hold any table; one that we designed has the name of its mechanism.
    return f"{getattr(question, 'mechanism', None) or 'table'} on {channel.answers} levels"
