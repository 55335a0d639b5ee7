"""Plain TREC files, which are read without Polars, give what the complete reader gives."""

import math
import random
import warnings
from itertools import product

import numpy as np
import pytest
from packed import gzipped

import ir_graded
from ir_graded.errors import FileFormatError
from ir_graded.io import plain
from ir_graded.io.sources import opened
from ir_graded.matching import match
from ir_graded.matching.plain import match_plain

from .file_cases import NO_NUMBERS

PLAIN_QRELS = "1 0 a 2\n1 0 b 0\n2 0 c 1\n1 0 d 1\n"
PLAIN_RUN = "1 Q0 b 1 2.5 t\n1 Q0 a 2 2.5 t\n2 Q0 x 1 -1e-3 t\n2 Q0 c 2 .5 t\n1 Q0 d 3 +7. t\n"
#: Files that are read without Polars.
PLAIN = {
    "as written": (PLAIN_QRELS, PLAIN_RUN),
    "tabs": (PLAIN_QRELS.replace(" ", "\t"), PLAIN_RUN.replace(" ", "\t")),
    "any blanks": (PLAIN_QRELS.replace(" 0 ", "  4.5 \t"), " " + PLAIN_RUN.replace("\n", " \n\n")),
    "two fields between tabs": (PLAIN_QRELS.replace(" 0 ", " 0\t"), PLAIN_RUN.replace(" t", "\tt")),
    "carriage returns": (PLAIN_QRELS.replace("\n", "\r\n"), PLAIN_RUN.replace("\n", "\r\n")),
    "no last line end": (PLAIN_QRELS.rstrip(), PLAIN_RUN.rstrip()),
    "levels of all kinds": ("1 0 a -2\n1 0 b 0.5\n2 0 c 1e1\n", PLAIN_RUN),
    "no shared topic": (PLAIN_QRELS, "9 Q0 a 1 1 t\n"),
    "signs and zeros": (
        PLAIN_QRELS.replace(" 2", " -0"),
        PLAIN_RUN.replace(" 2.5", " -0").replace("7", "00"),
    ),
    "ids of several words": (
        PLAIN_QRELS.replace("b", "b" * 64).replace("a", "clueweb09-en0000-a"),
        PLAIN_RUN.replace("b", "b" * 64).replace("a", "clueweb09-en0000-a"),
    ),
    "ties": (PLAIN_QRELS, PLAIN_RUN.replace("2.5", "1").replace("+7.", "1")),
    "topics with a number sign": (PLAIN_QRELS.replace("2 0", "#2 0"), PLAIN_RUN.replace("2 Q0", "#2 Q0")),
}
#: Files that the complete reader reads or explains: qrels, and a run.
IN_DOUBT = {
    "empty": ("", ""),
    "blank": ("\n \n", "\n"),
    "carriage returns in lines": (PLAIN_QRELS.replace("\n", "\r x\n"), PLAIN_RUN.replace(" t", "\rt")),
    "long fields": (PLAIN_QRELS.replace("a", "a" * 65), PLAIN_RUN.replace("a", "a" * 65)),
    "not ASCII": (PLAIN_QRELS.replace("a", "ä"), PLAIN_RUN.replace("a", "ä")),
    "control characters": (PLAIN_QRELS.replace("a", "\x1f"), PLAIN_RUN.replace("a", "\0")),
    "control characters between fields": (
        PLAIN_QRELS.replace(" ", "\x0b", 1),
        PLAIN_RUN.replace(" ", "\x0b", 1),
    ),
    "byte-order mark inside": (PLAIN_QRELS + "\ufeff1 0 z 1\n", PLAIN_RUN + "\ufeff1 Q0 z 1 1 t\n"),
    "fields that move": ("1 0 a\n2 1 0 b 1\n", "1 Q0 a 1 1\n3 2 Q0 b 2 1 t\n"),
    "later fields that move": (
        PLAIN_QRELS + "1 0 y\n2 1 0 z 1\n",
        PLAIN_RUN + "1 Q0 y 1 1\n3 2 Q0 z 2 1 t\n",
    ),
    "two lines in one": (PLAIN_QRELS.replace("\n", " ", 1), PLAIN_RUN.replace("\n", " ", 1)),
    "repeated document": (PLAIN_QRELS + "1 0 a 2\n", PLAIN_RUN + "1 Q0 a 9 1 t\n"),
    "not a number": (PLAIN_QRELS.replace("2\n", "two\n"), PLAIN_RUN.replace("2.5", "high")),
    "underscore": (PLAIN_QRELS.replace("2\n", "1_0\n"), PLAIN_RUN.replace("2.5", "1_0")),
    "not finite": (PLAIN_QRELS.replace("2\n", "inf\n"), PLAIN_RUN.replace("2.5", "inf")),
    "not a number, by name": (PLAIN_QRELS.replace("2\n", "nan\n"), PLAIN_RUN.replace("2.5", "nan")),
    "too large": (PLAIN_QRELS.replace("2\n", "1e999\n"), PLAIN_RUN.replace("2.5", "1e999")),
    "other formats": ("1 a L2\n2 c L1\n", "1 123 1 2.5 0 10\n"),
    "letters": ("1 0 a 2\n1 S b 1\n", "1 1 2 3 4 5\n"),
    "a header": ("query_id iteration doc_id relevance\n1 0 a 1\n", "query_id Q0 doc_id 1 2 score\n"),
    "swapped": (PLAIN_RUN, PLAIN_QRELS),
    "comments": ("# pool depth 10\n" + PLAIN_QRELS, PLAIN_RUN.replace("2 Q0", "# a b 1 2 c\n2 Q0", 1)),
    "comments of another length": (PLAIN_QRELS + "#\n", " # made by t\n" + PLAIN_RUN),
    "blanks between tabs": (
        PLAIN_QRELS.replace(" ", "\t").replace("\t0\t", "\t0 0\t"),
        PLAIN_RUN.replace(" ", "\t").replace("Q0", "Q 0"),
    ),
    "fewer fields between tabs": ("google maps\ta\t1\n", "google maps\ta\t1\t2.5\tt\n"),
    "tabs between blanks": (PLAIN_QRELS.replace(" ", " \t "), PLAIN_RUN.replace(" ", "\t ")),
    "a run by rank": ("1 a 1 2.5\n1 b 2 1\n", "1 a 1 2.5\n1 b 2 1\n"),
    "swapped fields": ("1 a 0 2\n1 b 0 0\n2 c 0 1\n1 d 0 1\n", "1 a 1\n1 b 2\n2 c 1\n"),
    "levels with a prefix": ("1 0 a L2\n", PLAIN_RUN + "1 Q0 z 1\n"),
}


def outcome(qrels, run):
    """Return what evaluate gives: scores, coverage and warnings, or the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scores = ir_graded.evaluate(["Q", "AP", "nDCG@2", "RR", "P@1"], qrels, run)
            found = (scores.values.tobytes(), scores.query_ids, scores.runs, repr(scores.coverage))
            found += (scores.signature,)
        except (ValueError, OSError) as error:
            found = (type(error), str(error))
    return found, [str(one.message) for one in caught]


def outcome_of_complete_reader(qrels, run):
    """Return what evaluate gives if every file is in doubt."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "_rows", lambda *_given, **_options: None)
        return outcome(qrels, run)


def pieces_of(kind, path):
    """Return the rows of each piece of a file, None if it is in doubt."""
    return [*next(plain.read_plain(kind, [path], lambda rows: rows))]


@pytest.mark.parametrize("name", [*PLAIN, *IN_DOUBT])
def test_plain_files_give_the_results_and_errors_of_the_complete_reader(write, name):
    texts = (PLAIN | IN_DOUBT)[name]
    qrels, run = write(texts[0], "qrels.txt"), write(texts[1], "run.txt")
    good = write(PLAIN_QRELS, "good-qrels.txt"), write(PLAIN_RUN, "good.run")
    pairs = [(qrels, run), (good[0], run), (qrels, good[1])]
    expected = [outcome_of_complete_reader(*pair) for pair in pairs]
    # Whether a document is repeated is known only after matching.
    read = [None not in pieces_of(kind, path) for kind, path in (("qrels", qrels), ("run", run))]
    assert read == [name in PLAIN or name == "repeated document"] * 2
    assert [outcome(*pair) for pair in pairs] == expected


def random_run(source, topics, documents):
    """Return lines of a run with ids and scores of many lengths, some of them tied, and all its rows."""
    lines = []
    for topic in topics:
        names = source.sample(
            [f"{letter}{at}" for at in range(documents) for letter in ("d", "x" * 11)], documents
        )
        for rank, name in enumerate(names, 1):
            score = source.choice(
                [source.uniform(-9, 9), round(source.uniform(-2, 2), 1), source.randint(-3, 3)]
            )
            lines.append(f"{topic} Q0 {name} {rank} {score} tag")
    return lines


@pytest.mark.parametrize("seed", range(12))
def test_pieces_give_the_results_of_the_complete_reader(write, monkeypatch, seed):
    # Odd seeds scatter the topics over the file, which is then left to the complete reader.
    source = random.Random(seed)  # noqa: S311
    topics = [*map(str, range(8, 14)), "unknown"]
    lines = random_run(source, topics, 9)
    if seed % 2:
        source.shuffle(lines)
    mark = source.choice([" ", "\t", "  "])
    run = write("\n".join(lines).replace(" ", mark) + source.choice(["", "\n"]), "a.run")
    judged = (f"{topic} 0 d{at} {source.randint(0, 3)}\n" for topic, at in product(topics[:-1], range(12)))
    qrels = write("".join(judged), "qrels")
    expected = outcome_of_complete_reader(qrels, run)
    monkeypatch.setattr(plain, "_PIECES", {"run": source.choice([1, 200, 1000]), "qrels": 1 << 20})
    assert outcome(qrels, run) == expected
    assert len(pieces_of("run", run)) > 1
    (found,) = match_plain(match.prepare_qrels(qrels), [run], 1.0)
    assert (found is None) == bool(seed % 2)


def changed(source, text):
    """Return a text with a few characters inserted, replaced or deleted."""
    for _ in range(source.choice([0, 0, 1, 1, 2, 3])):
        at, mark = source.randrange(len(text)), source.choice(' \t\r\n.-+eE_09aL;"{#\x0b\0\x7fä\ufeff|/:SC')
        text = text[:at] + source.choice(["", mark, mark + text[at]]) + text[at + 1 :]
    return text


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(8))
def test_changed_files_give_the_results_and_errors_of_the_complete_reader(write, monkeypatch, seed):
    source = random.Random(seed)  # noqa: S311
    read = set()
    for _ in range(12):
        judged = (f"{topic} 0 d{at} {source.randint(-1, 3)}\n" for topic, at in product("12", range(3)))
        qrels = write(changed(source, "".join(judged)), "qrels.txt")
        end = source.choice(["\n", "\r\n", " \n"])
        run = write(changed(source, end.join(random_run(source, "12", 2)) + end))
        monkeypatch.setattr(plain, "_PIECES", {"run": source.choice([1, 1 << 20]), "qrels": 1 << 20})
        read.add((None in pieces_of("qrels", qrels), None in pieces_of("run", run)))
        assert outcome(qrels, run) == outcome_of_complete_reader(qrels, run)
    assert len(read) > 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [("50 Q0 a 1 high t\n", "score 'high' is not a number"), (" 50 Q0 a 1 1.5\n", "expected 6 fields")],
)
def test_a_doubt_in_a_later_piece_leaves_the_file_to_the_complete_reader(write, monkeypatch, line, problem):
    monkeypatch.setattr(plain, "_PIECES", {"run": 1, "qrels": 1 << 20})
    lines = [f"{topic} Q0 a 1 1 t\n" for topic in range(50)]
    bad = write("".join([*lines, line]))
    pieces = pieces_of("run", bad)
    assert pieces[0] is not None
    assert pieces[-1] is None
    with pytest.raises(FileFormatError, match=rf"run\.txt, line 51: {problem}"):
        ir_graded.evaluate("AP", write(PLAIN_QRELS, "qrels"), bad)
    judged = match.match_runs(
        match.prepare_qrels(write(PLAIN_QRELS, "qrels")),
        {"good": opened("run", write("".join(lines)))},
        1.0,
        lambda matched: matched.judged,
        judged_only=True,
    )
    assert next(judged).n_retrieved.tolist() == [1, 1]


def test_a_file_that_ends_too_early_is_in_doubt(write, monkeypatch):
    monkeypatch.setattr(plain, "_PIECES", {"run": 1 << 14, "qrels": 1 << 20})
    lines = "".join(f"{topic} Q0 {random.Random(topic).random()} 1 1 t\n" for topic in range(2000))  # noqa: S311
    run = write(gzipped(lines.encode())[:-9], "cut.run.gz")
    pieces = pieces_of("run", run)
    assert len(pieces) > 1
    assert [piece is None for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    with pytest.raises(FileFormatError, match=r"cut\.run\.gz: truncated gzip data"):
        ir_graded.evaluate("AP", write(PLAIN_QRELS, "qrels"), run)


def test_reading_ends_after_a_doubt(write, monkeypatch):
    monkeypatch.setattr(plain, "_PIECES", {"run": 1})
    monkeypatch.setattr(plain, "processors", lambda: 1)
    run = write("1 Q0 a 1 high t\n" + "".join(f"{topic} Q0 a 1 1 t\n" for topic in range(2, 50)))
    assert len(pieces_of("run", run)) < 10


#: Numbers that are written out in unusual ways, or that are as far from a float64 as possible.
NUMBERS = [
    "0", "-0", "+0", "0.0", ".5", "5.", "-.5", "+7.", "00012", "1e5", "-1E-7", "1e308", "4.9e-324",
    "1e-400", "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
    "12345678901234567890", "123456789012345678", "999999999999999999", "0.123456789012345678",
    "0.1234567890123456789", "1.0000000596046448", "0.30000000000000004", "7.038531e-26", "12345678.",
    "1234567.8", ".12345678", "00000000000000000001", "0.00000000000000000001", "-123456.78",
    "1234567890.1234567", "3.4028235e38",
]  # fmt: skip
WRONG = [text for text in NO_NUMBERS if text.isascii()]
WRONG += ["", "+.", "1.2.3", "12345678.1.", "1.234567.5", "nan", "inf", "-inf", "1e999", "/", ":"]


def numbers_of(texts):
    """Return the numbers that texts are read as."""
    data = "".join(texts).encode()
    length = np.array([*map(len, texts)])
    return plain._numbers(data + bytes(64), np.cumsum(length) - length, length)


def test_numbers_are_those_of_float():
    source = random.Random(3)  # noqa: S311
    texts = [*NUMBERS]
    for _ in range(20_000):
        digits = "".join(source.choices("0123456789", k=source.randint(1, 20)))
        at = source.randint(0, len(digits))
        texts.append(source.choice(["", "-", "+"]) + source.choice([digits, f"{digits[:at]}.{digits[at:]}"]))
    texts += [f"{source.randint(1, 10**18 - 1) / 10**18:.{source.randint(15, 22)}f}" for _ in range(20_000)]
    texts += [repr(source.uniform(-1, 1) * 10 ** source.randint(-9, 9)) for _ in range(20_000)]
    assert numbers_of(texts).tobytes() == np.array([*map(float, texts)]).tobytes()
    alone = [numbers_of([text])[0] for text in NUMBERS]
    assert [*map(math.copysign, alone, alone)] == [*map(float, NUMBERS)]


@pytest.mark.parametrize("text", WRONG)
def test_other_texts_are_no_numbers(text):
    assert numbers_of(["1", text, "2"]) is None
    assert numbers_of([text]) is None


def test_texts_are_equal_by_all_bytes_and_the_length():
    names = ["a", "b", "ab", "a" * 8, "a" * 9, "a" * 64, "a" * 65, "a" * 66, "\0", "a\0", "", "\u00e4"]
    texts = plain.Texts.of(names)
    rows = np.arange(len(names))
    for name in names[:6]:
        one = plain.Texts.of([name])
        same = one.same(np.zeros_like(rows), texts, rows)
        assert [names[row] for row in np.flatnonzero(same)] == [name]
        # A hash does not depend on the longest of the texts.
        assert one.hash()[0] == texts.hash()[names.index(name)]
    assert len({*texts.hash().tolist()}) >= len(names) - 5
    assert texts.texts(np.array([2, 4, 0])) == ["ab", "a" * 9, "a"]
