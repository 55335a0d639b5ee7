"""INEX XML submissions: ranked elements of articles, as spans of the articles' text.

A submission names elements by paths; which span of text an element is, only the article tells. Both
are read with lxml in a way that expands no entity and opens nothing but the file itself.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeAlias

from ir_graded.errors import FileFormatError, InputError
from ir_graded.io.formats import shortened

#: A directory of ``<file>.xml``, or what gives the content or the path of an article by its name.
Articles: TypeAlias = str | os.PathLike[str] | Callable[[str], bytes | str | os.PathLike[str]]

#: A location: names with their positions, from the document element down; the last may be text().
Steps: TypeAlias = tuple[tuple[str, int], ...]

_TEXT = "text()"
#: Steps of a path: libxml2 reads no deeper articles.
_DEEPEST = 256
_NAME = r"""(?![0-9.-])[^\s/\[\]()@*'"|=<>+,$!:]+"""
_STEP = re.compile(rf"/(text\(\)|{_NAME}(?::{_NAME})?)(?:\[([1-9][0-9]{{0,8}})\])?")

_NOT_EXPANDED = (
    "is an entity, and entities are not expanded: write the characters themselves, "
    "or numbers such as &#233;, and declare no entity"
)
#: Ends the messages of libxml2; inside an entity it is not the place in the file.
_PLACE = re.compile(r"\.?, line [0-9]+, column [0-9]+$")


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


def read_submission(path: str | os.PathLike[str], articles: Articles) -> list[PassageRow]:
    """The results of an INEX XML submission as spans of text, in the order of the file.

    Args:
        path: the submission.
        articles: a directory that holds each article as ``<file>.xml``, or a callable that gives the
            bytes or the path of an article by its ``<file>``. Each article is asked for once.

    Raises:
        FileFormatError: the submission, or an article that it names, cannot be read.
        InputError: ``articles`` is neither, or lxml is not installed.
        OSError: the submission cannot be opened.
    """
    etree = _etree(path)
    _check_articles(articles)
    where = os.fspath(path)
    results = list(_results(_parsed(etree, Path(where).read_bytes(), where), where))
    wanted: dict[str, dict[Steps, _Result]] = {}
    for result in results:
        wanted.setdefault(result.doc_id, {}).setdefault(result.steps, result)
    spans = {name: _spans_in_article(etree, articles, list(first.values())) for name, first in wanted.items()}
    return [
        PassageRow(result.query_id, result.doc_id, result.score, *spans[result.doc_id][result.steps])
        for result in results
    ]


def _etree(path: str | os.PathLike[str]) -> Any:
    # Imported by its name: lxml comes without type information.
    try:
        return import_module("lxml.etree")
    except ImportError as error:
        raise InputError(
            f"{os.fspath(path)}: lxml is needed to read XML submissions: pip install 'ir-graded[xml]'"
        ) from error


def _check_articles(articles: object) -> None:
    if callable(articles) or (isinstance(articles, (str, os.PathLike)) and Path(articles).is_dir()):
        return
    raise InputError(
        f"articles={articles!r} is no directory; give the directory that holds the articles as <file>.xml, "
        "or a callable from <file> to the article's bytes or path"
    )


# ------------------------------------------------------------------------------------ XML to trees


def _parsed(etree: Any, data: bytes, where: str) -> Any:
    """The document element. Raises FileFormatError for what is no XML, and for entities."""
    try:
        root = etree.fromstring(data, _parser(etree))
    except etree.XMLSyntaxError as error:
        problem = _PLACE.sub("", str(error.msg))
        line = _line(etree, data, error.lineno)
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


def _line(etree: Any, data: bytes, line: int) -> int:
    """The line of an error; of one inside an entity, the line that refers to the entity."""
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


# -------------------------------------------------------------------------------------- submission


@dataclass(frozen=True)
class _Result:
    """A result of a submission; as text, the place where it stands."""

    query_id: str
    doc_id: str
    score: float
    path: str
    steps: Steps
    place: str

    def __str__(self) -> str:
        return f"{self.place}: topic {self.query_id!r}, article {self.doc_id!r}"


def _results(root: Any, where: str) -> Iterator[_Result]:
    """The results of all topics. Raises FileFormatError where an element is missing or out of place."""
    if root.tag != "inex-submission":
        raise FileFormatError(
            f"{where}, line {root.sourceline}: expected an <inex-submission>, found <{root.tag}>"
        )
    _check_places(root, where)
    lines: dict[str, int] = {}
    for topic in root.iterchildren("topic"):
        place = f"{where}, line {topic.sourceline}"
        query_id = topic.get("topic-id", "").strip()
        if not query_id:
            raise FileFormatError(f"{place}: this <topic> has no topic-id")
        if query_id in lines:
            raise FileFormatError(
                f"{place}: topic {query_id!r} stands twice, first at line {lines[query_id]}"
            )
        lines[query_id] = topic.sourceline
        for position, result in enumerate(topic.iterchildren("result"), 1):
            yield _result(result, query_id, -float(position), where)


def _check_places(root: Any, where: str) -> None:
    """Raise FileFormatError for a topic or a result that would be overlooked where it stands."""
    for name, parent in (("topic", root.tag), ("result", "topic")):
        for element in root.iterdescendants(name):
            above = element.getparent()
            if above.tag != parent:
                raise FileFormatError(
                    f"{where}, line {element.sourceline}: a <{name}> inside <{above.tag}>; "
                    f"it must stand in <{parent}>"
                )


def _result(result: Any, query_id: str, score: float, where: str) -> _Result:
    topic = f"topic {query_id!r}"
    doc_id, line = _field(result, "file", where, topic)
    if PurePath(doc_id).anchor or doc_id.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", doc_id):
        raise FileFormatError(
            f"{where}, line {line}: {topic}: the <file> {shortened(doc_id)} leads out of the directory"
        )
    path, line = _field(result, "path", where, f"{topic}, article {doc_id!r}")
    steps = _steps(path)
    found = _Result(query_id, doc_id, score, path, steps, f"{where}, line {line}")
    if not steps:
        raise FileFormatError(
            f"{found}: the path {shortened(path, 200)} is not such as /article[1]/body[1]/p[3], "
            f"after which only text()[1] may follow, and of at most {_DEEPEST} steps"
        )
    return found


def _field(result: Any, name: str, where: str, what: str) -> tuple[str, int]:
    """Text and line of an element that a result must have once."""
    found = result.findall(name)
    if len(found) != 1:
        raise FileFormatError(
            f"{where}, line {result.sourceline}: {what}: a <result> needs one <{name}>, this has {len(found)}"
        )
    text = (found[0].text or "").strip()
    if not text or len(found[0]):
        raise FileFormatError(
            f"{where}, line {found[0].sourceline}: {what}: <{name}> must hold text and nothing else"
        )
    return text, found[0].sourceline


def _steps(path: str) -> Steps:
    """The steps of a path; none where it is no plain path from the document element down."""
    steps: list[tuple[str, int]] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or (steps and steps[-1][0] == _TEXT) or len(steps) > _DEEPEST:
            return ()
        steps.append((step[1], int(step[2] or 1)))
        at = step.end()
    return tuple(steps)


# ----------------------------------------------------------------------------------------- articles


def _spans_in_article(etree: Any, articles: Articles, results: list[_Result]) -> dict[Steps, tuple[int, int]]:
    """The spans of one article's elements. Raises FileFormatError for a path that matches nothing."""
    data, where = _content(articles, results[0])
    root = _parsed(etree, data, where)
    spans = spans_of(etree, root, [result.steps for result in results])
    for result in results:
        if result.steps not in spans:
            matching = max(n for n in range(len(result.steps)) if n == 0 or result.steps[:n] in spans)
            longest = "".join(f"/{name}[{n}]" for name, n in result.steps[:matching])
            found = (
                f"the longest part that does is {longest}" if longest else f"the article is a <{_name(root)}>"
            )
            raise FileFormatError(
                f"{result}: the path {shortened(result.path, 200)} matches nothing in {where}; {found}"
            )
    return spans


def _content(articles: Articles, result: _Result) -> tuple[bytes, str]:
    """The bytes of an article, and what to call it in errors."""
    try:
        place = articles(result.doc_id) if callable(articles) else Path(articles, f"{result.doc_id}.xml")
        if isinstance(place, bytes):
            return place, f"article {result.doc_id!r}"
        if isinstance(place, (str, os.PathLike)):
            return Path(place).read_bytes(), os.fspath(place)
    except (OSError, LookupError) as error:
        raise FileFormatError(f"{result}: cannot get the article: {type(error).__name__}: {error}") from error
    raise InputError(
        f"{result}: for this article the callable gave {type(place).__name__}; it must give bytes or a path"
    )


def spans_of(etree: Any, root: Any, wanted: Iterable[Steps]) -> dict[Steps, tuple[int, int]]:
    """First position and length of the text of elements and text nodes, in one walk over the article.

    Args:
        etree: the module of lxml.
        root: the document element; it holds no reference to an entity.
        wanted: the locations to look for.

    Returns:
        The spans of those that exist, and of all that lie above them. Text is what stands between the
        tags, without comments and processing instructions; positions are characters.
    """
    walk = _Walk(etree, wanted)
    walk.element(root, (), Counter())
    return walk.found


class _Walk:
    """A walk over an article's tree, which counts its text and notes the spans of some locations."""

    def __init__(self, etree: Any, wanted: Iterable[Steps]) -> None:
        self.tostring = etree.tostring
        self.wanted = {steps[:n] for steps in wanted for n in range(1, len(steps) + 1)}
        self.found: dict[Steps, tuple[int, int]] = {}
        self.position = 0

    def element(self, element: Any, above: Steps, counts: Counter[str]) -> None:
        """Walk over an element whose parent is ``above`` and has the children counted so far."""
        start = self.position
        here = self._step(above, _name(element), counts)
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
            # The fastest way to all text of an element, and nothing in it is looked for.
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


def _name(element: Any) -> str:
    """The name of an element as the article has it, with its prefix."""
    name: str = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix else name
