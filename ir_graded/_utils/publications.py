"""Publications that define measures, tests and corrections; ``sources.bib`` has each once.

Docstrings of measures, tests and corrections cite the keys of its entries in brackets: ``[sakai2004new]``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},?$", re.MULTILINE)
_KEY = re.compile(r"\[(\w+)\]")
#: Accents of LaTeX as combining characters.
_ACCENTS = {'"': "\u0308", "'": "\u0301"}
#: Fields that say where a publication appeared; books have none that is printed.
_VENUES = ("booktitle", "journal", "institution", "howpublished")
#: Most authors that a short citation names.
_MOST_AUTHORS = 2


@dataclass(frozen=True)
class Publication:
    """An entry of ``sources.bib``.

    Attributes:
        bibtex: the entry.
        kind: its type, such as article.
        fields: the fields by name, without the characters of LaTeX.
    """

    bibtex: str
    kind: str
    fields: dict[str, str]

    @property
    def authors(self) -> list[str]:
        """Family names of the authors; 'others' is the last one of a shortened list."""
        return [name.partition(",")[0] for name in self.fields["author"].split(" and ")]

    @property
    def full(self) -> str:
        """Authors, title, venue, year and DOI."""
        *first, last = self.authors
        names = " and ".join(filter(None, [", ".join(first), last])).replace(" and others", " et al.")
        venue = next((self.fields[name] for name in _VENUES if name in self.fields), "")
        comma = "" if self.kind == "inproceedings" and venue.isalpha() else ","
        where = f"{venue}{comma} {self.fields['year']}" if venue else self.fields["year"]
        doi = f", doi:{self.fields['doi']}" if "doi" in self.fields else ""
        return f'{names}, "{self.fields["title"]}" ({where}){doi}'

    @property
    def short(self) -> str:
        """Authors and year."""
        names = self.authors
        few = len(names) <= _MOST_AUTHORS and "others" not in names
        return f"{' and '.join(names) if few else f'{names[0]} et al.'} {self.fields['year']}"


@cache
def publications() -> dict[str, Publication]:
    """Return the entries of ``sources.bib`` by key; the file is read on the first call."""
    text = files(__package__).joinpath("sources.bib").read_text(encoding="utf-8")
    return {
        found[2]: Publication(
            found[0], found[1], {name: _plain(value) for name, value in _FIELD.findall(found[3])}
        )
        for found in _ENTRY.finditer(text)
    }


def _plain(value: str) -> str:
    """Return the value of a field without the characters of LaTeX."""
    accented = re.sub(r"\\([\"'])(\w)", lambda found: found[2] + _ACCENTS[found[1]], value)
    return unicodedata.normalize("NFC", re.sub(r"[{}\\]", "", accented))


def cited_keys(text: str) -> list[str]:
    """Return the keys that a text cites."""
    return [key for key in _KEY.findall(text) if key in publications()]


def with_citations(text: str) -> str:
    """Return a text with the full citation in the place of each key."""
    return _KEY.sub(lambda found: publications()[found[1]].full if cited_keys(found[0]) else found[0], text)


def short_citations(text: str) -> str:
    """Return authors and years of the publications of a text, without those that it follows ("after ...")."""
    return "; ".join(publications()[key].short for key in cited_keys(text.partition(" after ")[0]))


def bibtex(keys: Iterable[str]) -> str:
    """Return entries for BibTeX, each once, by key."""
    return "\n\n".join(publications()[key].bibtex for key in sorted({*keys}))
