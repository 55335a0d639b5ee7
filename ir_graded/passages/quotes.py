"""Find quotes in texts: from questions with quotes to qrels with passages."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.segments import Ints
from ir_graded.errors import CoverageWarning, InputError, check_choice, format_ids, short_repr, shortened
from ir_graded.io.assignments import parts_of
from ir_graded.io.table import as_floats, as_strings
from ir_graded.io.values import check_values

from .chunks import text_of
from .findings import Texts

if TYPE_CHECKING:
    import pandas as pd

#: Characters that are replaced, by the words of ``ignore``.
_REPLACED = {
    "whitespace": dict.fromkeys("\u200b\ufeff\u00ad", ""),
    "punctuation": dict(zip("‘’“”–—‑−", "''\"\"----", strict=True)),  # noqa: RUF001
    "case": {},
}
_SPAN = ("doc_id", "start", "length")


@dataclass(frozen=True, eq=False, repr=False)
class Quotes(Result):
    """Quotes that were looked up in texts, the result of :func:`find_quotes`.

    The rows of ``missing`` and ``several`` have the index of the places of the quotes in the input.

    Attributes:
        qrels: a row per place found: query_id, doc_id, relevance, start, length and the further columns of
            the quotes.
        missing: the quotes that do not occur, with ``prefix``, the length of their longest prefix that does,
            in characters of the quote, and doc_id and start of the first place of the prefix (-1 without).
        several: the quotes that occur at several places, with their number in ``places``.
    """

    qrels: pd.DataFrame
    missing: pd.DataFrame
    several: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return the qrels."""
        return self.qrels

    def _title(self) -> str:
        return f"Quotes(places={len(self.qrels)}, missing={len(self.missing)}, several={len(self.several)})"

    def _printed(self) -> pd.DataFrame:
        """Return the quotes to look at, if there are any."""
        import pandas as pd

        shown = pd.concat([self.missing.assign(places=0), self.several])
        shown["quote"] = [shortened(quote, 40) for quote in shown["quote"]]
        return shown if len(shown) else self.qrels


def find_quotes(
    texts: Texts, quotes: Any, *, ignore: Collection[str] = ("whitespace",), several: str = "first"
) -> Quotes:
    r"""Find the spans of quotes in texts, which make qrels with passages.

    Quotes and texts are compared after these replacements; spans go from the first to the last matched
    character of the text as it is. Occurrences may overlap.

    Args:
        texts: the text of each document: a mapping from doc_id or, if all quotes name their documents, a
            function of it.
        quotes: a table with the columns query_id and quote: a frame, a list of dicts or the path of a file
            with a header, CSV or TSV, Parquet or JSON Lines. Optional columns: doc_id, without which a
            quote is looked for in all texts; relevance, the level, by default 1; others, which are kept, but
            for start and length, which are those found.
        ignore: differences that are ignored. ``'whitespace'``: every run of white space is a blank, and
            zero-width spaces (U+200B, U+FEFF) and soft hyphens (U+00AD) are left out; ``'punctuation'``:
            typographic quotation marks, dashes, hyphens and minus signs are plain ones; ``'case'``.
        several: ``'first'`` keeps the first place of a quote with several, ``'all'`` keeps all, as
            alternatives (``NuggetR(spans='any')``; CharR expects a run to retrieve every copy), ``'error'``
            raises InputError.

    Returns:
        The qrels, the quotes that are missing, and those with several places.

    Raises:
        InputError: a quote is empty or not text, its document has no text, or a column is missing; with
            ``several='error'``, a quote occurs at several places.
        FileFormatError: a line of the file cannot be read.
        ParameterError: ``ignore`` or ``several`` has an unknown word.

    Warns:
        CoverageWarning: a quote does not occur, or it occurs at several places.

    Example:
        >>> from ir_graded import passages
        >>> texts = {"a": "Pay  within\n14 days. Pay within 15 days."}
        >>> passages.find_quotes(texts, [{"query_id": "1", "quote": "Pay within 14 days."}]).qrels
          query_id doc_id  relevance  start  length
        0        1      a          1      0      20
    """
    import pandas as pd

    for word in ignore:
        check_choice("ignore", word, tuple(_REPLACED))
    check_choice("several", several, ("first", "all", "error"))
    table = _read(quotes)
    wanted = [_normalised(quote, ignore) for quote in table["quote"]]
    if empty := [row for row, (quote, _) in zip(table.index, wanted, strict=True) if not quote]:
        raise InputError(f"quotes: {empty[0]}: the quote is empty")
    spans: list[dict[tuple[str, int, int], None]] = [{} for _ in wanted]
    for doc_id, text, position, rows in _documents(texts, table, ignore):
        for row in rows:
            quote, _ = wanted[row]
            for at in _places(text, quote):
                start, last = int(position[at]), int(position[at + len(quote) - 1])
                # A character that casefolds to several is one place.
                spans[row][doc_id, start, last - start + 1] = None
    places = np.array([*map(len, spans)], dtype=np.int64)
    lost, many = np.flatnonzero(places == 0), np.flatnonzero(places > 1)
    kept = [[*one][: 1 if several == "first" else None] for one in spans]
    found = pd.DataFrame([*chain.from_iterable(kept)], columns=[*_SPAN])
    qrels = table.drop(columns="quote").iloc[np.repeat(np.arange(len(kept)), [*map(len, kept)])]
    qrels = qrels.reset_index(drop=True).assign(doc_id=found["doc_id"])
    for at, name in enumerate(_SPAN[1:], 3):
        qrels.insert(at, name, found[name])
    missing = table.iloc[lost]
    prefixes = [(doc_id, -1, 0) for doc_id in missing["doc_id"]]
    _find_prefixes(prefixes, [wanted[row] for row in lost], _documents(texts, missing, ignore))
    missing = missing.assign(**pd.DataFrame(prefixes, missing.index, [*_SPAN[:2], "prefix"]))
    result = Quotes(qrels, missing, table.iloc[many].assign(places=places[many]))
    if note := " ".join(_notes(result, len(table), several)):
        warnings.warn(note, CoverageWarning, stacklevel=2)
    return result


def _places(text: str, quote: str) -> Iterator[int]:
    """Yield where a quote occurs in a text; occurrences may overlap. The time is linear in the text."""
    at, size = text.find(quote), len(quote)
    while at >= 0:
        yield at
        following = text.find(quote, at + 1)
        period = following - at
        if 0 < period <= size // 2:
            # The nearest occurrence shows the period of the quote: it recurs while the text has this period.
            end = at + size
            last = at + _shared(text, end, text, end - period) // period * period
            yield from range(following, last + 1, period)
            following = text.find(quote, last + 1)
        at = following


def _shared(one: str, at: int, other: str, start: int) -> int:
    """Return how many characters from a position of a text are those from a position of another."""
    size, step, most = 0, 1, min(len(one) - at, len(other) - start)
    while step:
        end = size + step
        if end <= most and one[at + size : at + end] == other[start + size : start + end]:
            size, step = end, 2 * step
        else:
            step //= 2
    return size


def _normalised(text: str, ignore: Collection[str]) -> tuple[str, Ints]:
    """Return a text as it is compared, and the position in the text of each of its characters."""
    replaced = {char: new for word in ignore for char, new in _REPLACED[word].items()}
    blanks = "whitespace" in ignore
    table: dict[int, str] = {}
    for char in set(text):
        new = replaced.get(char, " " if blanks and char.isspace() else char)
        table[ord(char)] = new.casefold() if "case" in ignore else new
    sizes = np.ones(max(table, default=0) + 1, dtype=np.int64)
    sizes[[*table]] = [*map(len, table.values())]
    size = sizes[_codes(text)]
    position, text = np.repeat(np.arange(size.size), size), text.translate(table)
    if blanks:
        blank = _codes(text) == ord(" ")
        # Keep the last blank of a run, and none at the ends.
        kept = ~blank
        kept[:-1] |= ~blank[1:] & (np.cumsum(~blank) > 0)[:-1]
        text, position = " ".join(text.split()), position[kept]
    return text, position


def _codes(text: str) -> Any:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _documents(
    texts: Any, table: pd.DataFrame, ignore: Collection[str]
) -> Iterator[tuple[str, str, Ints, list[int]]]:
    """Yield doc_id, text as it is compared and positions of each document, and the quotes to find in it."""
    # The order of the texts decides which place of a quote is the first.
    wanted: dict[str, list[int]] = {name: [] for name in texts} if isinstance(texts, Mapping) else {}
    for row, doc_id in enumerate(table["doc_id"]):
        if not isinstance(doc_id, str) and not isinstance(texts, Mapping):
            problem = "names no document; add its doc_id, or give texts as a mapping from doc_id to text"
            raise InputError(f"quotes: {_first(table.iloc[row:])} {problem}")
        for name in [doc_id] if isinstance(doc_id, str) else texts:
            wanted.setdefault(name, []).append(row)
    for name, rows in wanted.items():
        if rows:
            try:
                text = text_of(texts, name, str)
            except InputError as error:
                raise InputError(f"quotes: {table.index[rows[0]]}: {error}") from None
            yield name, *_normalised(text, ignore), rows


def _find_prefixes(found: list[Any], wanted: list[tuple[str, Ints]], documents: Iterator[Any]) -> None:
    """Set doc_id, start and length of the longest prefix of each quote that occurs."""
    sizes = [0] * len(found)
    for doc_id, text, position, rows in documents:
        for row in rows:
            (quote, of_quote), at = wanted[row], -1
            # Longer prefixes begin later.
            while (at := text.find(quote[: sizes[row] + 1], at + 1)) >= 0:
                sizes[row] = _shared(text, at, quote, 0)
                found[row] = doc_id, int(position[at]), int(of_quote[sizes[row] - 1]) + 1


def _read(quotes: Any) -> pd.DataFrame:
    """Return quotes as a frame with text and levels; its index is their places."""
    import pandas as pd

    is_empty = isinstance(quotes, (list, tuple)) and not quotes
    parts = [] if is_empty or isinstance(quotes, Mapping) else [*parts_of("quotes", quotes, "nuggets")]
    if not parts:
        raise InputError(
            f"quotes are {short_repr(quotes)}; give a table with the columns query_id and quote, a list of "
            "dicts, or the path of a file with a header"
        )
    tables = []
    for part in parts:
        names = [*dict.fromkeys(("query_id", "quote", *(part.names or ())))]
        columns = part.columns("quotes", ("query_id",), names[1:])
        places = [*map(part.place, range(len(columns["quote"])))]
        kept = {str(name): columns[name] for name in names if name not in _SPAN[1:]}
        tables.append(pd.DataFrame(kept, places))
    table = pd.concat(tables)
    given: dict[str, Any] = {"query_id": None, "doc_id": [None] * len(table), "relevance": [1] * len(table)}
    given |= {str(name): table[name].tolist() for name in table}
    given["doc_id"] = as_strings(given["doc_id"], "quotes: doc_id").to_list()
    levels = as_floats(given["relevance"], lambda row: f"quotes: {table.index[row]}: the level")
    check_values("quotes", levels, lambda row: str(table.index[row]))
    given["relevance"] = levels.astype(np.int64) if (levels % 1 == 0).all() else levels
    given["quote"] = as_strings(given["quote"], "quotes: quote").fill_null("").to_list()
    return pd.DataFrame(given, table.index)


def _first(quotes: pd.DataFrame) -> str:
    """Describe the first of some quotes."""
    first = quotes.iloc[0]
    return f"{quotes.index[0]}, topic {first['query_id']!r}: the quote {shortened(first['quote'])}"


def _notes(found: Quotes, size: int, several: str) -> Iterator[str]:
    """Yield sentences on quotes that are missing or occur at several places."""
    missing, repeated = found.missing, found.several
    if len(missing):
        doc_id, start, prefix, quote = missing[[*_SPAN[:2], "prefix", "quote"]].iloc[0]
        beginning = f"its beginning {shortened(quote[:prefix])} does (document {doc_id!r}, position {start})"
        yield (
            f"{len(missing)} of {size} quotes do not occur in the texts and are not in the qrels. The first: "
            f"{_first(missing)}; {beginning if prefix else 'no part of it does'}. See .missing, and ignore "
            "for differences in quotation marks, dashes and case."
        )
        if topics := sorted({*missing["query_id"]} - {*found.qrels["query_id"]}):
            yield f"The qrels lack the topics without any quote found: {format_ids(topics)}."
    if len(repeated):
        first = f"{_first(repeated)} occurs at {repeated['places'].iloc[0]} places"
        if several == "error":
            raise InputError(f"quotes: {first}; make it longer, name its doc_id, or set several")
        yield (
            f"{len(repeated)} of {size} quotes occur at several places, of which "
            f"{'the first is' if several == 'first' else 'all are'} kept. The first: {first}. See .several."
        )
