"""Read INEX submissions in XML: ranked elements of articles, as spans of the text of the articles.

A submission names elements by their locations. The spans of their text are found in the articles.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ir_graded._utils.extras import install_hint
from ir_graded.errors import FileFormatError, InputError, shortened

if TYPE_CHECKING:
    import pandas as pd


#: A location: names with their positions, from the document element down; the last may be text().
Steps: TypeAlias = tuple[tuple[str, int], ...]

_TEXT = "text()"
#: Highest number of steps of a path; libxml2 does not read deeper articles.
MAX_STEPS = 256
_NAME = r"""(?![0-9.-])[^\s/\[\]()@*'"|=<>+,$!:]+"""
_STEP = re.compile(rf"/(text\(\)|{_NAME}(?::{_NAME})?)(?:\[([1-9][0-9]{{0,8}})\])?")


def parse_location(path: str) -> Steps:
    """Return the steps of a path; none if it is not a plain path from the document element down."""
    steps: list[tuple[str, int]] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or (steps and steps[-1][0] == _TEXT) or len(steps) > MAX_STEPS:
            return ()
        steps.append((step[1], int(step[2] or 1)))
        at = step.end()
    return tuple(steps)


def spans_of(etree: Any, root: Any, wanted: Iterable[Steps]) -> dict[Steps, tuple[int, int]]:
    """Return first position and length of the text of elements and text nodes, in one walk.

    Args:
        etree: the module of lxml.
        root: the document element, without references to entities.
        wanted: the locations to find.

    Returns:
        The spans of the locations that exist, and of all elements above them. Text is everything between the
        tags except comments and processing instructions. Positions count characters.
    """
    walk = _Walk(etree, wanted)
    walk.element(root, (), Counter())
    return walk.found


class _Walk:
    """Walk over the tree of an article, counting text and recording the spans of some locations."""

    def __init__(self, etree: Any, wanted: Iterable[Steps]) -> None:
        self.tostring = etree.tostring
        self.wanted = {steps[:n] for steps in wanted for n in range(1, len(steps) + 1)}
        self.found: dict[Steps, tuple[int, int]] = {}
        self.position = 0

    def element(self, element: Any, above: Steps, counts: Counter[str]) -> None:
        """Walk over an element. ``above`` is its parent, ``counts`` the children of the parent so far."""
        start = self.position
        here = self._step(above, qualified_name(element), counts)
        if here in self.wanted:
            inside: Counter[str] = Counter()
            self._text(element.text, here, inside)
            for child in element:
                # The tags of comments and processing instructions are functions.
                if isinstance(child.tag, str):
                    self.element(child, here, inside)
                self._text(child.tail, here, inside)
            self.found[here] = (start, self.position - start)
        else:
            # No location inside is wanted, so take the text of the element at once, which is fastest.
            self.position += len(self.tostring(element, method="text", encoding="unicode", with_tail=False))

    def _text(self, text: str | None, above: Steps, counts: Counter[str]) -> None:
        """Pass over a text node."""
        if text:
            here = self._step(above, _TEXT, counts)
            if here in self.wanted:
                self.found[here] = (self.position, len(text))
            self.position += len(text)

    @staticmethod
    def _step(above: Steps, name: str, counts: Counter[str]) -> Steps:
        counts[name] += 1
        return (*above, (name, counts[name]))


def qualified_name(element: Any) -> str:
    """Return the name of an element with its prefix, as in the article."""
    name: str = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix else name


_NOT_EXPANDED = (
    "is an entity, and entities are not expanded: replace it by the characters, "
    "or by numbers such as &#233;, and remove the declaration"
)
#: End of the messages of libxml2; for an error inside an entity it is not the place in the file.
_PLACE = re.compile(r"\.?, line [0-9]+, column [0-9]+$")


def import_etree(path: str | os.PathLike[str]) -> Any:
    """Return the module lxml.etree. Raises InputError with the path if lxml is not installed."""
    # Imported by its name: lxml comes without type information.
    try:
        return import_module("lxml.etree")
    except ImportError as error:
        raise InputError(
            f"{os.fspath(path)}: reading XML submissions requires lxml: {install_hint('xml')}"
        ) from error


def parse(etree: Any, data: bytes, where: str) -> Any:
    """Return the document element. Raises FileFormatError for invalid XML and for entities."""
    try:
        root = etree.fromstring(data, _parser(etree))
    except etree.XMLSyntaxError as error:
        problem = _PLACE.sub("", str(error.msg))
        line = _error_line(etree, data, error.lineno)
        raise FileFormatError(f"{where}, line {line}: cannot be read as XML: {problem}") from None
    for entity in root.iter(etree.Entity):
        raise FileFormatError(f"{where}, line {entity.sourceline}: {shortened(entity.text)} {_NOT_EXPANDED}")
    types = root.getroottree().docinfo.internalDTD
    declared = [] if types is None else types.entities()
    if declared:
        line = data.count(b"\n", 0, max(data.find(b"<!ENTITY"), 0)) + 1
        raise FileFormatError(f"{where}, line {line}: {shortened(declared[0].name)} {_NOT_EXPANDED}")
    return root


def _parser(etree: Any) -> Any:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False
    )


def _error_line(etree: Any, data: bytes, line: int) -> int:
    """Return the line of an error; for an error inside an entity, the line that refers to it."""
    if b"<!ENTITY" not in data:
        return line
    parser = _parser(etree)
    fed = 0
    try:
        for fed, text in enumerate(data.splitlines(keepends=True), 1):  # noqa: B007  # looked at below
            parser.feed(text)
        parser.close()
    except etree.XMLSyntaxError:
        pass
    return max(line, fed)


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
