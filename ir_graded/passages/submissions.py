"""INEX submissions: ranked elements of articles in XML as spans of text, and the rules of the tasks."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ir_graded._utils.later import extra
from ir_graded.core.segments import Ints
from ir_graded.errors import FileFormatError, InputError, check_choice, shortened
from ir_graded.io.lengths import read_lengths, rows_beyond
from ir_graded.io.sources import passage_table
from ir_graded.io.table import Table
from ir_graded.matching.articles import Articles, articles_of, order_rows
from ir_graded.matching.match import prepare_qrels
from ir_graded.matching.tables import groups_of

if TYPE_CHECKING:
    import pandas as pd


#: A location: names with their positions, from the document element down; the last may be text().
Steps: TypeAlias = tuple[tuple[str, int], ...]

_TEXT = "text()"
#: Highest number of steps of a path; libxml2 does not read deeper articles.
_MOST_STEPS = 256
_NAME = r"""(?![0-9.-])[^\s/\[\]()@*'"|=<>+,$!:]+"""
_STEP = re.compile(rf"/(text\(\)|{_NAME}(?::{_NAME})?)(?:\[([1-9][0-9]{{0,8}})\])?")


class _Walk:
    """Walk over the tree of an article that records ``(start, length)`` of locations and all above them."""

    def __init__(self, etree: Any, root: Any, wanted: Iterable[Steps]) -> None:
        self.tostring = etree.tostring
        self.wanted = {steps[:n] for steps in wanted for n in range(1, len(steps) + 1)}
        self.found: dict[Steps, tuple[int, int]] = {}
        self.position = 0
        self._element(root, (), Counter())

    def _element(self, element: Any, above: Steps, counts: Counter[str]) -> None:
        """Walk over an element. ``above`` is its parent, ``counts`` the children of the parent so far."""
        start = self.position
        here = self._step(above, _qualified_name(element), counts)
        if here not in self.wanted:
            # No location inside is wanted, so take the text of the element at once, which is fastest.
            self.position += len(self.tostring(element, method="text", encoding="unicode", with_tail=False))
            return
        inside: Counter[str] = Counter()
        self._text(element.text, here, inside)
        for child in element:
            # The tags of comments and processing instructions are functions.
            if isinstance(child.tag, str):
                self._element(child, here, inside)
            self._text(child.tail, here, inside)
        self.found[here] = (start, self.position - start)

    def _text(self, text: str | None, above: Steps, counts: Counter[str]) -> None:
        if text:
            here = self._step(above, _TEXT, counts)
            if here in self.wanted:
                self.found[here] = (self.position, len(text))
            self.position += len(text)

    @staticmethod
    def _step(above: Steps, name: str, counts: Counter[str]) -> Steps:
        counts[name] += 1
        return (*above, (name, counts[name]))


def _qualified_name(element: Any) -> str:
    """Return the name of an element with its prefix, as in the article."""
    name: str = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix else name


_NO_ENTITIES = (
    "entities are not expanded: replace them by the characters, or by numbers such as &#233;, and remove "
    "their declarations"
)
#: End of the messages of libxml2, whose line is given before.
_PLACE = re.compile(r"\.?, line [0-9]+, column [0-9]+$")


def _parse(etree: Any, data: bytes, where: str) -> Any:
    """Return the document element. Raises FileFormatError for invalid XML and for entities."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False
    )
    line, problem = data.count(b"\n", 0, max(data.find(b"<!ENTITY"), 0)) + 1, _NO_ENTITIES
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        # The line of an error inside an entity would be that within the entity.
        if b"<!ENTITY" not in data:
            line, problem = error.lineno, f"cannot be read as XML: {_PLACE.sub('', str(error.msg))}"
    else:
        types = root.getroottree().docinfo.internalDTD
        if types is None or not types.entities():
            reference = next(root.iter(etree.Entity), None)
            if reference is None:
                return root
            line, problem = reference.sourceline, f"{shortened(reference.text)}: {_NO_ENTITIES}"
    raise FileFormatError(f"{where}, line {line}: {problem}")


#: A directory of ``<file>.xml``, or a callable from an article to its content or its path.
ArticleFiles: TypeAlias = str | os.PathLike[str] | Callable[[str], bytes | str | os.PathLike[str]]


def read_submission(path: str | os.PathLike[str], articles: ArticleFiles) -> pd.DataFrame:
    """Read an INEX XML submission as a run with passages.

    Each result names an element of an article, such as ``/article[1]/body[1]/p[3]``, and becomes the span of
    its text within that of the article, in characters. A step without a position means the first; the last
    may be ``text()[1]``. Text is everything between the tags except comments and processing instructions. The
    order of the results is the ranking; ``<rank>`` and ``<rsv>`` are ignored. Entities are never expanded: a
    file that uses or declares one is an error. No other files are opened.

    Args:
        path: the submission.
        articles: a directory that holds each article as ``<file>.xml``, or a callable, called once per
            article, from ``<file>`` to the bytes or the path of the article.

    Returns:
        A row per result in the order of the file: query_id, doc_id, score (minus the position within the
        topic), start and length.

    Raises:
        FileFormatError: the submission or an article cannot be read, or a path matches nothing.
        InputError: ``articles`` is neither a directory nor callable.
        GradedError: lxml, which the extra ``xml`` installs, is missing.
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

    etree = extra("lxml.etree")
    if not callable(articles) and not (isinstance(articles, (str, os.PathLike)) and Path(articles).is_dir()):
        raise InputError(
            f"articles={articles!r} is not a directory; give the directory that holds the articles as "
            "<file>.xml, or a callable from <file> to the bytes or the path of the article"
        )
    where = os.fspath(path)
    results = list(_results(_parse(etree, Path(where).read_bytes(), where), where))
    wanted: dict[str, list[_Result]] = defaultdict(list)
    for result in results:
        wanted[result.doc_id].append(result)
    spans = {doc_id: _element_spans(etree, articles, elements) for doc_id, elements in wanted.items()}
    rows = [
        (result.query_id, result.doc_id, result.score, *spans[result.doc_id][result.steps])
        for result in results
    ]
    types = {"query_id": "str", "doc_id": "str", "score": "float64", "start": "int64", "length": "int64"}
    return pd.DataFrame(rows, columns=list(types)).astype(types)


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


def _error(where: str, element: Any, problem: str) -> FileFormatError:
    return FileFormatError(f"{where}, line {element.sourceline}: {problem}")


def _results(root: Any, where: str) -> Iterator[_Result]:
    """Yield the results of all topics. Raises FileFormatError if an element is missing or misplaced."""
    if root.tag != "inex-submission":
        raise _error(where, root, f"expected an <inex-submission>, found <{root.tag}>")
    # Misplaced elements would be skipped.
    for name, parent in (("topic", root.tag), ("result", "topic")):
        for element in root.iterdescendants(name):
            above = element.getparent().tag
            if above != parent:
                raise _error(where, element, f"a <{name}> inside <{above}>; it must be in <{parent}>")
    lines: dict[str, int] = {}
    for topic in root.iterchildren("topic"):
        query_id = topic.get("topic-id", "").strip()
        if not query_id:
            raise _error(where, topic, "this <topic> has no topic-id")
        if query_id in lines:
            raise _error(where, topic, f"topic {query_id!r} appears twice, first at line {lines[query_id]}")
        lines[query_id] = topic.sourceline
        for position, result in enumerate(topic.iterchildren("result"), 1):
            yield _result(result, query_id, -float(position), where)


def _result(result: Any, query_id: str, score: float, where: str) -> _Result:
    topic = f"topic {query_id!r}"
    file, doc_id = _field(result, "file", where, topic)
    if PurePath(doc_id).anchor or doc_id.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", doc_id):
        raise _error(where, file, f"{topic}: the <file> {shortened(doc_id)} is outside the directory")
    location, path = _field(result, "path", where, f"{topic}, article {doc_id!r}")
    parts = list(_STEP.finditer(path))
    steps = tuple((step[1], int(step[2] or 1)) for step in parts)
    found = _Result(query_id, doc_id, score, path, steps, f"{where}, line {location.sourceline}")
    plain = "".join(step[0] for step in parts) == path and all(name != _TEXT for name, _ in steps[:-1])
    if not (plain and 0 < len(steps) <= _MOST_STEPS):
        raise FileFormatError(
            f"{found}: the path {shortened(path, 200)} must be like /article[1]/body[1]/p[3], "
            f"with at most {_MOST_STEPS} steps, of which the last may be text()[1]"
        )
    return found


def _field(result: Any, name: str, where: str, what: str) -> tuple[Any, str]:
    """Return an element that a result must have exactly once, and its text."""
    found = result.findall(name)
    if len(found) != 1:
        raise _error(where, result, f"{what}: a <result> needs one <{name}>, found {len(found)}")
    text = (found[0].text or "").strip()
    if not text or len(found[0]):
        raise _error(where, found[0], f"{what}: <{name}> must hold text only")
    return found[0], text


def _element_spans(
    etree: Any, articles: ArticleFiles, results: list[_Result]
) -> dict[Steps, tuple[int, int]]:
    """Return spans of elements of one article. Raises FileFormatError for a path that matches nothing."""
    data, where = _article_bytes(articles, results[0])
    root = _parse(etree, data, where)
    spans = _Walk(etree, root, [result.steps for result in results]).found
    for result in results:
        if result.steps not in spans:
            matching = max(n for n in range(len(result.steps)) if n == 0 or result.steps[:n] in spans)
            longest = "".join(f"/{name}[{n}]" for name, n in result.steps[:matching])
            root_only = f"the article is a <{_qualified_name(root)}>"
            found = f"the longest part that does is {longest}" if longest else root_only
            raise FileFormatError(
                f"{result}: the path {shortened(result.path, 200)} matches nothing in {where}; {found}"
            )
    return spans


def _article_bytes(articles: ArticleFiles, result: _Result) -> tuple[bytes, str]:
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


OVERLAP, INTERLEAVED, SEVERAL, BEYOND = "overlap", "interleaved", "several rows", "beyond the end"
#: Problems that the rules of each task of INEX forbid.
TASKS = {
    "focused": {OVERLAP},
    "relevant-in-context": {OVERLAP, INTERLEAVED},
    "best-in-context": {INTERLEAVED, SEVERAL},
}


def check_submission(run: Any, task: str, lengths: Any = None) -> pd.DataFrame:
    """Find rows of a run with passages that break the rules of a task.

    - ``overlap``: two rows of an article share text (focused, relevant-in-context);
    - ``interleaved``: another article is ranked between rows of an article (relevant-in-context,
      best-in-context);
    - ``several rows``: an article has more than one row (best-in-context);
    - ``beyond the end``: a row ends after the end of its document (only if ``lengths`` are given).

    Args:
        run: a run with passages in any form.
        task: 'focused', 'relevant-in-context' or 'best-in-context'.
        lengths: length of each document: a mapping from doc_id, or a table or file with doc_id and length.

    Returns:
        A row per problem: query_id, doc_id, row, other_row and problem. Rows are counted from 0 in the order
        of the input. ``row`` is ranked below ``other_row``, which is -1 if the problem concerns one row.

    Raises:
        InputError: the run holds no passages, or the lengths lack a document.
        ParameterError: ``task`` is none of the three tasks.

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> spans = {"doc_id": ["a", "b", "a"], "start": [0, 0, 5], "length": 9}
        >>> run = pd.DataFrame({"query_id": "1", "score": [3.0, 2, 1], **spans})
        >>> passages.check_submission(run, "relevant-in-context")
          query_id doc_id  row  other_row      problem
        0        1      a    2          0  interleaved
        1        1      a    2          0      overlap
    """
    import pandas as pd

    check_choice("task", task, TASKS)
    table = passage_table("check_submission", "run", run)
    table.check_values()
    order, articles = rows_by_rank(table)
    problems = [*_order_problems(order, articles.article[order]), *_overlaps(articles, order)]
    problems = [problem for problem in problems if problem[2] in TASKS[task]]
    if lengths is not None:
        problems += [(row, -1, BEYOND) for row in rows_beyond(table, read_lengths(lengths)).tolist()]
    problems.sort()
    types = {"query_id": "str", "doc_id": "str", "row": "int64", "other_row": "int64", "problem": "str"}
    rows = [(table.query_id[row], table.doc_id[row], row, other, problem) for row, other, problem in problems]
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def rows_by_rank(table: Table) -> tuple[Ints, Articles]:
    """Return the rows with passages of a run by topic and rank, and its articles."""
    topics: dict[str, dict[str, float]] = {topic: {} for topic in table.query_id.to_list()}
    groups = groups_of(prepare_qrels(topics), table.query_id)
    articles = articles_of(table, groups.topic)
    assert articles is not None  # noqa: S101  # for the type checker
    return order_rows(table, groups, articles)[0], articles


Problem = tuple[int, int, str]


def _order_problems(order: Ints, article: Ints) -> list[Problem]:
    """Return rows whose article is ranked above, and those of them with another article in between."""
    by_article = np.argsort(article, kind="stable")
    again = article[by_article[1:]] == article[by_article[:-1]]
    later, before = by_article[1:][again], by_article[:-1][again]
    pairs = list(zip(order[later].tolist(), order[before].tolist(), strict=True))
    found = [(row, other, SEVERAL) for row, other in pairs]
    back = (later != before + 1).tolist()
    return found + [(row, other, INTERLEAVED) for (row, other), one in zip(pairs, back, strict=True) if one]


def _overlaps(articles: Articles, order: Ints) -> list[Problem]:
    """Return each row that begins inside others of its article, with the last to end, lower rank first."""
    rank = np.argsort(order)
    spans = articles.passage.spans(articles.article)
    ahead, _ = spans.overlapping()
    rows = np.flatnonzero(np.isin(articles.article, articles.article[ahead]))
    part = spans[rows]
    found: list[Problem] = []
    article, reached, last = -1, 0, -1
    # The loop sees only rows of articles with overlaps.
    for at in np.lexsort((part.stop, part.start, part.article)).tolist():
        if part.article[at] != article:
            article, reached, last = int(part.article[at]), 0, -1
        if last >= 0 and part.start[at] < reached and part.start[last] < part.stop[at]:
            upper, lower = sorted((int(rows[at]), int(rows[last])), key=rank.__getitem__)
            found.append((lower, upper, OVERLAP))
        if part.stop[at] >= reached:
            reached, last = int(part.stop[at]), at
    return found
