"""Read INEX submissions in XML: ranked elements of articles, as spans of the text of the articles.

A submission names elements by their locations. The spans of their text are found in the articles.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ir_graded.errors import FileFormatError, InputError
from ir_graded.io.formats import shortened

from .elements import MAX_STEPS, Steps, parse_location, qualified_name, spans_of
from .xml_trees import import_etree, parse

if TYPE_CHECKING:
    import pandas as pd

#: A directory of ``<file>.xml``, or a callable from an article to its content or its path.
Articles: TypeAlias = str | os.PathLike[str] | Callable[[str], bytes | str | os.PathLike[str]]


class PassageRow(NamedTuple):
    """A passage of an article that a run retrieved.

    Attributes:
        query_id: the topic.
        doc_id: the article.
        score: minus the position of the result within its topic, from -1.
        start: position of the first character in the text of the article, from 0.
        length: number of characters.
    """

    query_id: str
    doc_id: str
    score: float
    start: int
    length: int


def read_submission(path: str | os.PathLike[str], articles: Articles) -> pd.DataFrame:
    """Read an INEX XML submission as a run with passages.

    Each result names an element of an article, such as ``/article[1]/body[1]/p[3]``. A step without a
    position means the first; the last step may be ``text()[1]``. The result becomes the span of the text of
    the element within the text of the article, in characters. Text is everything between the tags except
    comments and processing instructions. The order of the results is the ranking; ``<rank>`` and ``<rsv>``
    are ignored.

    This function requires lxml, which the extra ``xml`` installs. Entities are never expanded: a file that
    uses or declares an entity is an error. No other files are opened.

    Args:
        path: the submission.
        articles: a directory that holds each article as ``<file>.xml``, or a callable that takes ``<file>``
            and returns the bytes or the path of the article. It is called once per article.

    Returns:
        A row per result with query_id, doc_id (text), score (minus the position within the topic),
        start and length (int64), in the order of the file.

    Raises:
        FileFormatError: the submission or an article that it names cannot be read, or a path matches
            nothing; the message names the place.
        InputError: ``articles`` is neither a directory nor callable, or lxml is not installed.
        OSError: the submission cannot be opened.

    Example:
        >>> import pathlib, tempfile
        >>> from ir_graded import passages
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "run.xml")
        >>> size = path.write_text(
        ...     '<inex-submission><topic topic-id="289"><result><file>12</file>'
        ...     "<path>/article[1]/p[2]</path></result></topic></inex-submission>"
        ... )
        >>> articles = {"12": b"<article><p>Some text.</p><p>More.</p></article>"}
        >>> passages.read_submission(path, articles.__getitem__)
          query_id doc_id  score  start  length
        0      289     12   -1.0     10       5
        >>> folder.cleanup()
    """
    import pandas as pd

    frame = pd.DataFrame(passage_rows(path, articles), columns=list(PassageRow._fields))
    types = {"query_id": "str", "doc_id": "str", "score": "float64", "start": "int64", "length": "int64"}
    return frame.astype(types)


def passage_rows(path: str | os.PathLike[str], articles: Articles) -> list[PassageRow]:
    """Return the results of an INEX XML submission as spans of text, in the order of the file.

    Arguments and errors are those of :func:`read_submission`.
    """
    etree = import_etree(path)
    _check_articles(articles)
    where = os.fspath(path)
    results = list(_parse_results(parse(etree, Path(where).read_bytes(), where), where))
    wanted: dict[str, dict[Steps, _Result]] = {}
    for result in results:
        wanted.setdefault(result.doc_id, {}).setdefault(result.steps, result)
    spans = {name: _element_spans(etree, articles, list(first.values())) for name, first in wanted.items()}
    return [
        PassageRow(result.query_id, result.doc_id, result.score, *spans[result.doc_id][result.steps])
        for result in results
    ]


def _check_articles(articles: object) -> None:
    if callable(articles) or (isinstance(articles, (str, os.PathLike)) and Path(articles).is_dir()):
        return
    raise InputError(
        f"articles={articles!r} is not a directory; give the directory that holds the articles as "
        "<file>.xml, or a callable from <file> to the bytes or the path of the article"
    )


@dataclass(frozen=True)
class _Result:
    """A result of a submission; ``str`` returns its place in the file."""

    query_id: str
    doc_id: str
    score: float
    path: str
    steps: Steps
    place: str

    def __str__(self) -> str:
        return f"{self.place}: topic {self.query_id!r}, article {self.doc_id!r}"


def _parse_results(root: Any, where: str) -> Iterator[_Result]:
    """Yield the results of all topics. Raises FileFormatError if an element is missing or misplaced."""
    if root.tag != "inex-submission":
        raise FileFormatError(
            f"{where}, line {root.sourceline}: expected an <inex-submission>, found <{root.tag}>"
        )
    _check_nesting(root, where)
    lines: dict[str, int] = {}
    for topic in root.iterchildren("topic"):
        place = f"{where}, line {topic.sourceline}"
        query_id = topic.get("topic-id", "").strip()
        if not query_id:
            raise FileFormatError(f"{place}: this <topic> has no topic-id")
        if query_id in lines:
            raise FileFormatError(
                f"{place}: topic {query_id!r} appears twice, first at line {lines[query_id]}"
            )
        lines[query_id] = topic.sourceline
        for position, result in enumerate(topic.iterchildren("result"), 1):
            yield _parse_result(result, query_id, -float(position), where)


def _check_nesting(root: Any, where: str) -> None:
    """Raise FileFormatError for a topic or a result outside its parent element, which would be skipped."""
    for name, parent in (("topic", root.tag), ("result", "topic")):
        for element in root.iterdescendants(name):
            above = element.getparent()
            if above.tag != parent:
                raise FileFormatError(
                    f"{where}, line {element.sourceline}: a <{name}> inside <{above.tag}>; "
                    f"it must be in <{parent}>"
                )


def _parse_result(result: Any, query_id: str, score: float, where: str) -> _Result:
    topic = f"topic {query_id!r}"
    doc_id, line = _parse_field(result, "file", where, topic)
    if PurePath(doc_id).anchor or doc_id.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", doc_id):
        raise FileFormatError(
            f"{where}, line {line}: {topic}: the <file> {shortened(doc_id)} is outside the directory"
        )
    path, line = _parse_field(result, "path", where, f"{topic}, article {doc_id!r}")
    steps = parse_location(path)
    found = _Result(query_id, doc_id, score, path, steps, f"{where}, line {line}")
    if not steps:
        raise FileFormatError(
            f"{found}: the path {shortened(path, 200)} must be like /article[1]/body[1]/p[3], "
            f"with at most {MAX_STEPS} steps, of which the last may be text()[1]"
        )
    return found


def _parse_field(result: Any, name: str, where: str, what: str) -> tuple[str, int]:
    """Return text and line of an element that a result must have exactly once."""
    found = result.findall(name)
    if len(found) != 1:
        raise FileFormatError(
            f"{where}, line {result.sourceline}: {what}: a <result> needs one <{name}>, found {len(found)}"
        )
    text = (found[0].text or "").strip()
    if not text or len(found[0]):
        raise FileFormatError(f"{where}, line {found[0].sourceline}: {what}: <{name}> must hold text only")
    return text, found[0].sourceline


def _element_spans(etree: Any, articles: Articles, results: list[_Result]) -> dict[Steps, tuple[int, int]]:
    """Return spans of elements of one article. Raises FileFormatError for a path that matches nothing."""
    data, where = _article_bytes(articles, results[0])
    root = parse(etree, data, where)
    spans = spans_of(etree, root, [result.steps for result in results])
    for result in results:
        if result.steps not in spans:
            matching = max(n for n in range(len(result.steps)) if n == 0 or result.steps[:n] in spans)
            longest = "".join(f"/{name}[{n}]" for name, n in result.steps[:matching])
            found = (
                f"the longest part that does is {longest}"
                if longest
                else f"the article is a <{qualified_name(root)}>"
            )
            raise FileFormatError(
                f"{result}: the path {shortened(result.path, 200)} matches nothing in {where}; {found}"
            )
    return spans


def _article_bytes(articles: Articles, result: _Result) -> tuple[bytes, str]:
    """Return the bytes of an article, and its name in error messages."""
    try:
        place = articles(result.doc_id) if callable(articles) else Path(articles, f"{result.doc_id}.xml")
        if isinstance(place, bytes):
            return place, f"article {result.doc_id!r}"
        if isinstance(place, (str, os.PathLike)):
            return Path(place).read_bytes(), os.fspath(place)
    except (OSError, LookupError) as error:
        raise FileFormatError(f"{result}: cannot get the article: {type(error).__name__}: {error}") from error
    raise InputError(
        f"{result}: the callable returned {type(place).__name__} for this article; it must return bytes or "
        "a path"
    )
