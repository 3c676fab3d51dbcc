"""Reads QR codes with a decoder that is not the one that made them."""

from __future__ import annotations

import re
import struct
import zlib

import numpy as np
import zxingcpp


def decode(dark: np.ndarray) -> str:
    """The text in a picture of one code; ``dark`` is true where it is black."""
    found = zxingcpp.read_barcodes(np.where(np.kron(dark, np.ones((4, 4), bool)), 0, 255).astype(np.uint8))
    assert len(found) == 1
    return str(found[0].text)


def decode_blocks(text: str) -> str:
    """A code in half blocks."""
    halves = {" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}
    rows = [[halves[character] for character in line] for line in text.splitlines()]
    return decode(np.array([[pair[half] for pair in row] for row in rows for half in (0, 1)], bool))


def decode_path(path: str, size: int) -> str:
    """A code as the bars of an SVG path."""
    dark = np.zeros((size, size), bool)
    bars = re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", path)
    assert "".join(f"M{x} {y}h{n}v1h-{n}z" for x, y, n in bars) == path
    for x, y, length in bars:
        dark[int(y), int(x) : int(x) + int(length)] = True
    return decode(dark)


def decode_png(content: bytes) -> str:
    """A code in a PNG of one bit for each pixel, black or white."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, place = [], 8
    while place < len(content):
        length = struct.unpack(">I", content[place : place + 4])[0]
        chunks.append((content[place + 4 : place + 8], content[place + 8 : place + 8 + length]))
        place += 12 + length
    header = dict(chunks)[b"IHDR"]
    width, height = struct.unpack(">II", header[:8])
    assert header[8:] == bytes([1, 0, 0, 0, 0])  # one bit, grey
    raw = zlib.decompress(b"".join(data for name, data in chunks if name == b"IDAT"))
    rows = np.frombuffer(raw, np.uint8).reshape(height, -1)
    assert {*rows[:, 0]} <= {0, 2}  # a row as it is, or what it adds to the row above
    pixels = rows[:, 1:].copy()
    for y in np.flatnonzero(rows[:, 0]):
        pixels[y] += pixels[y - 1]
    return decode(np.unpackbits(pixels, axis=1)[:, :width] == 0)
