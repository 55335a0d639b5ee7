"""Texts as bytes: compared, ordered and hashed eight bytes at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from .segments import Bools, Ints, pair_key
from .struct import light_dataclass

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

#: Bytes of a word, and the longest text that is compared or hashed as a whole.
WORD, LONGEST = 8, 64
#: Masks of the first 0 to 8 bytes.
FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(WORD + 1)], dtype=np.uint64)
_NEWLINE = ord("\n")
#: Odd numbers with irregular bits.
_SPREAD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)


def bytes_left(size: Bytes, number: int) -> Bytes:
    """Return how many bytes of each text are in its word of the given number."""
    if number:
        size = np.maximum(size, WORD * number) - np.uint8(WORD * number)
    return np.minimum(size, np.uint8(WORD))


def words_at(data: bytes, begin: Ints, left: npt.NDArray[np.integer]) -> Words:
    """Return the words that begin at some positions: ``left`` bytes, the first one lowest, and zeros."""
    # A word starts at each byte, without a copy.
    words = np.ndarray((len(data) - WORD + 1,), dtype="<u8", buffer=data, strides=(1,))
    return np.asarray(words[begin] & FIRST_BYTES[left], dtype=np.uint64)


@light_dataclass(frozen=True, eq=False)
class Names:
    """Texts of any length that can be ordered, by code point.

    Attributes:
        data: the texts in UTF-8, which sorts like code points, and ``WORD`` bytes at the end.
        begin: the position of each text.
        length: its number of bytes.
    """

    data: bytes
    begin: Ints
    length: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Names:
        """Return names from texts."""
        data = "\n".join(texts).encode("utf-8", "surrogatepass")
        end = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
        if end.size == len(texts) - 1:
            begin, end = np.append(0, end + 1), np.append(end, len(data))
            return cls(data + bytes(WORD), begin, end - begin)
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        length = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        return cls(b"".join(encoded) + bytes(WORD), np.cumsum(length) - length, length)

    def __getitem__(self, rows: Ints) -> Names:
        """Return some of the names."""
        return Names(self.data, self.begin[rows], self.length[rows])

    def __add__(self, other: Names) -> Names:
        """Return these names, then others."""
        begin = np.concatenate((self.begin, len(self.data) + other.begin))
        return Names(self.data + other.data, begin, np.concatenate((self.length, other.length)))

    def columns(self) -> list[npt.NDArray[np.integer]]:
        """Return numbers for each name; compared one after the other, they sort like the names."""
        longest = int(self.length.max(initial=0))
        if longest > LONGEST:
            return [self.order_numbers()]
        # Zeros at the end cannot be told from zero bytes of a name.
        columns = [*(self.word(number) for number in range(-(-longest // WORD))), self.length]
        return [column for column in columns if (column[1:] != column[:-1]).any()]

    def order_numbers(self) -> Ints:
        """Return a number per name that sorts like the names; equal names get equal numbers."""
        order = _dense(self.word(0))
        for number in range(1, -(-int(self.length.max(initial=0)) // WORD)):
            # Compare further only names that agree so far and have more bytes.
            rows = np.flatnonzero((np.bincount(order)[order] > 1) & (self.length > WORD * number))
            if not rows.size:
                break
            following = np.zeros(order.size, dtype=np.int64)
            following[rows] = _dense(self[rows].word(number)) + 1
            order = _dense(pair_key(order, following))
        if b"\0" in self.data[:-WORD]:
            order = _dense(pair_key(order, _dense(self.length)))
        return order

    def word(self, number: int) -> Words:
        """Return a word of each name, as a number that sorts like its bytes."""
        left = np.clip(self.length - WORD * number, 0, WORD)
        begin = np.minimum(self.begin + WORD * number, len(self.data) - WORD)
        return words_at(self.data, begin, left).byteswap()


def _dense(values: npt.NDArray[np.integer]) -> Ints:
    """Return for each value the number of distinct smaller values."""
    order = np.argsort(values)
    ordered = values[order]
    steps = np.zeros(values.size, dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
    number = np.empty_like(steps)
    number[order] = steps
    return number


@light_dataclass(frozen=True, eq=False)
class Texts:
    """Texts as numbers of eight bytes; all of a text up to ``LONGEST`` bytes.

    Attributes:
        words: the bytes of each text, filled with zeros, shape ``(texts, words)``.
        length: the number of bytes of each, at most 255.
    """

    words: Words
    length: Bytes

    @classmethod
    def at(cls, data: bytes, begin: Ints, length: Ints) -> Texts:
        """Return the texts at some positions of a text that has ``LONGEST`` more bytes."""
        size = np.minimum(length, 255).astype(np.uint8)
        longest = min(LONGEST, int(size.max(initial=1)))
        words = np.empty((begin.size, -(-longest // WORD)), dtype=np.uint64)
        for number in range(words.shape[1]):
            at = begin + WORD * number if number else begin
            words[:, number] = words_at(data, at, bytes_left(size, number))
        return cls(words, size)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Return texts as numbers."""
        names = Names.of([*texts])
        return cls.at(names.data + bytes(LONGEST), names.begin, names.length)

    def hash(self) -> Words:
        """Return an evenly distributed number for each text, whatever the length of the others."""
        found: Words = self.words[:, 0] * _SPREAD[0]
        for number in range(1, self.words.shape[1]):
            found += self.words[:, number] * (_SPREAD ** np.uint64(number))[number % _SPREAD.size]
        found ^= found >> np.uint64(32)
        found *= _SPREAD[1]
        found ^= found >> np.uint64(29)
        return found

    def same(self, rows: Ints, other: Texts, of_other: Ints) -> Bools:
        """Return whether texts are those of ``other``, which may be longer than ``LONGEST``."""
        found: Bools = self.length[rows] == other.length[of_other]
        for number in range(min(self.words.shape[1], other.words.shape[1])):
            found &= self.words[rows, number] == other.words[of_other, number]
        return found

    def names(self, rows: Ints) -> Names:
        """Return some texts of at most ``LONGEST`` bytes, to be ordered."""
        words = self.words[rows]
        begin = words.itemsize * words.shape[1] * np.arange(len(words), dtype=np.int64)
        return Names(words.tobytes() + bytes(WORD), begin, self.length[rows].astype(np.int64))

    def texts(self, rows: Ints | slice) -> list[str]:
        """Return some texts, of ASCII characters."""
        found: list[str] = self.words[rows].view(f"S{WORD * self.words.shape[1]}")[:, 0].astype(str).tolist()
        return found
