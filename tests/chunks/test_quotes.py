"""Quotes found in texts, against example G and the reference; tokens of rows and of chunks."""

import random
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import TABLES
from hypothesis import given, strategies as st
from reference import quotes as reference

import ir_graded
from ir_graded import CoverageWarning, FileFormatError, InputError, ParameterError, passages
from ir_graded.passages.quotes import _find_prefixes, _normalised, _places

G = "Pay  within\n14 days. Pay within 14\u00a0days."
QUOTE = {"query_id": "1", "quote": "Pay within 14 days."}
ALL = ("whitespace", "punctuation", "case")


def found(texts, quotes, **options):
    """Find quotes where warnings are expected or not."""
    with pytest.warns(CoverageWarning):
        return passages.find_quotes(texts, quotes, **options)


def spans(qrels):
    return [*qrels[["doc_id", "start", "length"]].itertuples(index=False, name=None)]


# ------------------------------------------------------------------------------------------- quotes


def test_example_g():
    assert spans(found({"a": G}, [QUOTE], several="all").qrels) == [("a", 0, 20), ("a", 21, 19)]
    assert spans(found({"a": G}, [QUOTE]).qrels) == [("a", 0, 20)]
    exact = found({"a": G}, [QUOTE], ignore=())
    assert not len(exact.qrels)
    assert exact.missing[["doc_id", "start", "prefix"]].to_numpy().tolist() == [["a", 21, 13]]


def test_columns_of_the_quotes_are_kept():
    quotes = [
        {"relevance": 1.5, "quote": "b", "iteration": "n1", "doc_id": "y", "query_id": 7},
        {"relevance": 1, "quote": "missing", "iteration": "n2", "doc_id": "x", "query_id": 7},
        {"relevance": 0, "quote": "a", "iteration": None, "doc_id": None, "query_id": 8},
    ]
    result = found({"x": "ba", "y": "cba"}, quotes)
    names = ["query_id", "doc_id", "relevance", "start", "length", "iteration"]
    assert [*result.qrels.columns] == names
    rows = [["7", "y", 1.5, 1, 1, "n1"], ["8", "x", 0, 1, 1, None]]
    assert result.qrels.astype(object).where(result.qrels.notna(), None).to_numpy().tolist() == rows
    assert result.missing.to_dict("records") == [
        {"query_id": "7", "doc_id": "x", "relevance": 1, "quote": "missing", "iteration": "n2", "start": -1}
        | {"prefix": 0}
    ]
    assert result.several.to_dict("list")["places"] == [2]
    assert [*result.several.index] == ["item 2"]
    assert result.to_frame() is result.qrels


def test_positions_of_the_quotes_are_replaced():
    quotes = [{**QUOTE, "start": 4, "length": 9, "run": "x"}, {**QUOTE, "quote": "?", "start": 5, "run": "y"}]
    result = found({"a": G}, quotes)
    assert result.qrels.to_dict("records")[0] == {
        "query_id": "1",
        "doc_id": "a",
        "relevance": 1,
        "start": 0,
        "length": 20,
        "run": "x",
    }
    assert result.missing["start"].tolist() == [-1]


def test_the_result_scores_a_run():
    qrels = passages.find_quotes({"a": G}, [{**QUOTE, "quote": "14 days"}], ignore=()).qrels
    assert spans(qrels) == [("a", 12, 7)]
    run = pd.DataFrame({"query_id": "1", "doc_id": "a", "score": [1.0], "start": 12, "length": 14})
    assert ir_graded.evaluate("CharP", qrels, run).mean().to_numpy().tolist() == [[0.5]]


@pytest.mark.parametrize(
    "form",
    [
        pd.DataFrame,
        pl.DataFrame,
        lambda rows: pa.table(pl.DataFrame(rows).to_dict(as_series=False)),
        lambda rows: pd.DataFrame(rows).set_index(pd.Index([5, 5])),
    ],
    ids=["pandas", "polars", "arrow", "index"],
)
def test_every_form_of_quotes_is_read(form):
    quotes = [{**QUOTE, "relevance": 0.5}, {"query_id": "2", "quote": "days", "relevance": 2.0}]
    expected = found({"a": G}, quotes).qrels
    pd.testing.assert_frame_equal(found({"a": G}, form(quotes)).qrels, expected)


@pytest.mark.parametrize(("name", "mark"), [("q.csv", ","), ("q.tsv", "\t")])
def test_files_of_quotes_are_read(tmp_path, name, mark):
    quotes = pd.DataFrame([{**QUOTE, "relevance": 2, "doc_id": "a", "importance": "vital"}])
    quotes.loc[1] = ["2", 'a "quote",\nwith a line end; and\tmore', 1, None, "okay"]
    quotes.to_csv(tmp_path / name, index=False, sep=mark)
    texts = {"a": G, "b": '... a "quote", with a line end; and more'}
    with pytest.warns(CoverageWarning, match="^1 of 2 quotes occur at several places"):
        qrels = passages.find_quotes(texts, str(tmp_path / name)).qrels
    assert qrels.to_numpy().tolist() == [["1", "a", 2, 0, 20, "vital"], ["2", "b", 1, 4, 36, "okay"]]
    assert qrels["relevance"].dtype == "int64"


def test_json_lines_and_several_files_of_quotes_are_read(tmp_path):
    one, two = tmp_path / "1.jsonl", tmp_path / "2.csv"
    one.write_text('{"query_id": 1, "quote": "14 days. Pay", "x": "x"}\n\n{"query_id": 1, "quote": "?"}\n')
    two.write_text("query_id,quote\n2,days. Pay\n")
    result = found({"a": G}, [str(one), str(two)])
    assert result.qrels.iloc[:, :5].to_numpy().tolist() == [["1", "a", 1, 12, 12], ["2", "a", 1, 15, 9]]
    assert [*result.missing.index] == [f"{one}, line 3"]


def test_texts_may_be_a_function():
    calls = []
    quotes = [{**QUOTE, "doc_id": "a", "quote": word} for word in ("Pay  within", "within\t\n14")]
    result = found(lambda doc_id: calls.append(doc_id) or G, quotes)
    assert spans(result.qrels) == [("a", 0, 11), ("a", 5, 9)]
    assert calls == ["a"]
    message = r"^quotes: item 1, topic '1': the quote 'Pay' names no document; add its"
    with pytest.raises(InputError, match=message):
        passages.find_quotes(lambda _: G, [quotes[0], {**QUOTE, "quote": "Pay"}])


@pytest.mark.parametrize(
    ("text", "quote", "ignore", "places"),
    [
        ("aaaa", "aa", (), [(0, 2), (1, 2), (2, 2)]),
        ("a\u200bb\u00adc \ufeff d", "abc d", ("whitespace",), [(0, 9)]),
        ("\u201cno\u201d \u2014 it\u2019s", '"no" - it\'s', ("punctuation",), [(0, 11)]),
        ("\u201cno\u201d", '"no"', ("whitespace", "case"), []),
        ("Stra\u00dfe", "STRASSE", ("case",), [(0, 6)]),
        ("\u00df", "s", ("case",), [(0, 1)]),
        ("a  b", "a b", ("punctuation", "case"), []),
        (" \n a\x1cb \n", "\ta b ", ("whitespace",), [(3, 3)]),
        ("a\ud800 b", "b ", ("whitespace",), [(3, 1)]),
        ("\U0001f600 a", "\U0001f600  a", ("whitespace",), [(0, 3)]),
    ],
)
def test_what_is_ignored(text, quote, ignore, places):
    assert reference.places(text, quote, ignore) == places
    quotes = [{"query_id": "1", "quote": quote}]
    search = passages.find_quotes if len(places) == 1 else found
    assert spans(search({"a": text}, quotes, ignore=ignore, several="all").qrels) == [
        ("a", *one) for one in places
    ]


PARTS = ("a", "b", "B", " ", "  ", "\n", "\u00a0", "\u00ad", "\u200b", "-", "\u2014", "\u2212", "'", "\u2019")
PARTS += ("\u00df", "s", "\u0130", "\U0001f600", "ab", "ab ")


def agree(number):
    """Compare random quotes in random texts with the reference."""
    drawn = random.Random(number)  # noqa: S311

    def text(most):
        return "".join(drawn.choices(PARTS, k=drawn.randint(0, most)))

    ignore = tuple(drawn.sample(ALL, drawn.randint(0, 3)))
    texts = {name: text(30) for name in "xyz"[: drawn.randint(1, 3)]}
    quotes = []
    for _ in range(4):
        of_text = drawn.choice([*texts.values()])
        start = drawn.randint(0, len(of_text))
        quote = drawn.choice((of_text[start : start + drawn.randint(1, 8)], text(4)))
        if reference.normalised(quote, ignore):
            quotes.append({"query_id": "1", "quote": quote, "doc_id": drawn.choice((None, *texts))})
    if not quotes:
        return
    result = passages.find_quotes(texts, quotes, ignore=ignore, several="all")
    expected, missing, several = [], [], []
    for at, one in enumerate(quotes):
        where = texts if one["doc_id"] is None else {one["doc_id"]: texts[one["doc_id"]]}
        places = [(d, *span) for d, t in where.items() for span in reference.places(t, one["quote"], ignore)]
        expected += places
        if not places:
            prefix, doc_id, start = reference.longest_prefix(where, one["quote"], ignore)
            missing.append((f"item {at}", prefix, start, doc_id if prefix else one["doc_id"]))
        if len(places) > 1:
            several.append((f"item {at}", len(places)))
    assert spans(result.qrels) == expected
    listed = result.missing[["prefix", "start", "doc_id"]].itertuples(name=None)
    assert [(*row[:3], row[3] if isinstance(row[3], str) else None) for row in listed] == missing
    assert [*result.several["places"].items()] == several


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(range(60), marks=pytest.mark.slow),
        pytest.param(range(60, 2060), marks=pytest.mark.release),
    ],
)
def test_quotes_equal_the_reference(numbers):
    for number in numbers:
        agree(number)


@given(
    st.text("ab", max_size=40),
    st.text("ab", min_size=1, max_size=3),
    st.integers(1, 8),
    st.text("ab", max_size=2),
)
def test_repetitive_quotes_equal_the_reference(text, part, times, end):
    quote, text = part * times + end, text + part * times * 2 + text
    places = [at for at in range(len(text)) if text.startswith(quote, at)]
    assert [*_places(text, quote)] == places
    prefixes = [("d", -1, 0)]
    quote += "c"
    _find_prefixes(prefixes, [_normalised(quote, ())], iter([("d", *_normalised(text, ()), [0])]))
    size, doc_id, start = reference.longest_prefix({"d": text}, quote, ())
    assert prefixes == [(doc_id, start, size)]


class Counted(str):
    """A text that counts the characters that a search looks for."""

    looked = 0

    def find(self, part, *places):
        Counted.looked += len(part)
        return super().find(part, *places)


@pytest.mark.parametrize("part", ["a", "ab", "abaab"])
def test_the_work_on_repetitive_texts_is_linear(part):
    text, quote = Counted(part * 2000), part * 1000
    Counted.looked = 0
    assert len([*_places(text, quote)]) == 1001
    prefixes = [("d", -1, 0)]
    _find_prefixes(prefixes, [_normalised(quote + "c", ())], iter([("d", text, range(len(text)), [0])]))
    assert prefixes == [("d", 0, len(quote))]
    assert Counted.looked < 10 * len(text)


def corpus(seed=0):
    """Return texts of 1.44 million characters and 790 quotes of which every blank is changed."""
    drawn = random.Random(seed)  # noqa: S311
    words = ["".join(drawn.choices("abcdefghijklmnoprstuvwy", k=drawn.randint(2, 9))) for _ in range(3000)]
    texts = {}
    for name in "abcde":
        marks = drawn.choices(("", ",", ".", "\n", " \u2014", "\u2019s"), (85, 5, 5, 2, 2, 1), k=42_600)
        texts[name] = " ".join(map("".join, zip(drawn.choices(words, k=42_600), marks, strict=True)))
    quotes = []
    for number in range(790):
        doc_id = drawn.choice("abcde")
        start = texts[doc_id].index(" ", drawn.randrange(len(texts[doc_id]) - 300)) + 1
        quote = texts[doc_id][start : start + drawn.randint(60, 240)].strip()
        quotes.append({"query_id": str(number), "doc_id": doc_id, "start": start, "quote": quote})
    return texts, quotes


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["blanks", "quotation marks"])
def test_no_quote_of_a_large_corpus_is_missed(changed):
    texts, quotes = corpus()
    plain = str.maketrans(
        {"\u2019": "'", "\u2014": "-"} if changed != "blanks" else {" ": " \n\u00a0", "\n": "\t"}
    )
    careless = [
        {name: one[name] for name in ("query_id", "doc_id")} | {"quote": one["quote"].translate(plain)}
        for one in quotes
    ]
    result = passages.find_quotes(texts, careless, ignore=("whitespace", "punctuation"))
    expected = [(one["doc_id"], one["start"], len(one["quote"])) for one in quotes]
    assert spans(result.qrels) == expected
    if changed != "blanks":
        assert 100 < len(found(texts, careless).missing) < 790


def test_missing_quotes_warn_and_are_printed():
    quotes = [QUOTE, {"query_id": "2", "quote": "Pay within 15 days!"}, {"query_id": "3", "quote": "x"}]
    text = (
        "^2 of 3 quotes do not occur in the texts and are not in the qrels. The first: item 1, topic '2': "
        "the quote 'Pay within 15 days!'; its beginning 'Pay within 1' does .document 'a', position 0.. See "
        ".missing, and ignore for differences in quotation marks, dashes and case. The qrels lack the topics "
        "without any quote found: '2', '3'. 1 of 3 quotes occur at several places, of which the first is "
        "kept. The first: item 0, topic '1': the quote 'Pay within 14 days.' occurs at 2 places. See "
        ".several.$"
    )
    with pytest.warns(CoverageWarning, match=text):
        result = passages.find_quotes({"a": G}, quotes)
    assert str(result).startswith("Quotes(places=1, missing=2, several=1)\n")
    assert "item 2" in str(result)
    assert "item 2" in result._repr_html_()
    with pytest.warns(CoverageWarning, match="all are kept"):
        passages.find_quotes({"a": G}, quotes[:1], several="all")
    message = "^1 of 1 quotes do not .* the quote 'x'; no part of it does. See"
    with pytest.warns(CoverageWarning, match=message):
        passages.find_quotes({"a": G}, quotes[2:])


def test_warnings_name_the_line_of_the_caller():
    with pytest.warns(CoverageWarning) as caught:
        passages.find_quotes({"a": G}, [QUOTE])
    assert [one.filename for one in caught] == [__file__]


def test_long_quotes_are_printed_with_40_characters():
    quotes = [{"query_id": "1", "quote": "x" * 40}, {"query_id": "1", "quote": "y" * 41}]
    printed = str(found({"a": G}, quotes))
    assert "x" * 40 in printed
    assert "y" * 30 in printed
    assert "y" * 41 not in printed


def test_quotes_found_once_do_not_warn():
    result = passages.find_quotes({"a": G}, [{**QUOTE, "quote": "Pay within 14 days. Pay"}])
    assert str(result).endswith("0        1      a          1      0      24")
    empty = passages.find_quotes({"a": G}, pd.DataFrame({"query_id": [], "quote": []}))
    assert [*empty.qrels.columns] == ["query_id", "doc_id", "relevance", "start", "length"]


@pytest.mark.parametrize(
    ("quotes", "problem"),
    [
        ([QUOTE, {**QUOTE, "quote": ""}], "quotes: item 1: the quote is empty"),
        ([QUOTE, {**QUOTE, "quote": " \n\u200b"}], "quotes: item 1: the quote is empty"),
        ([{**QUOTE, "quote": None}], "quotes: item 0: the quote is empty"),
        ([{**QUOTE, "quote": ["x"]}], "quotes: quote: an id is text or a whole number, not a list"),
        ([{**QUOTE, "query_id": None}], "quotes: item 0 has no query_id"),
        ([QUOTE, {**QUOTE, "doc_id": "z"}], "quotes: item 1: texts lack document 'z'"),
        ([{**QUOTE, "relevance": "high"}], "quotes: item 0: the level 'high' is not a number"),
        ([{**QUOTE, "relevance": None}], "quotes: item 0: the level is missing or NaN"),
        ([{"query_id": "1"}], "quotes: the table has no column quote; it has query_id"),
        ([], "quotes are []; give a table with the columns query_id and quote, a list of dicts"),
        (
            {"1": "Pay"},
            "quotes are {'1': 'Pay'}; give a table with the columns query_id and quote, a list of",
        ),
    ],
)
def test_quotes_that_are_wrong(quotes, problem):
    with pytest.raises(InputError) as caught:
        passages.find_quotes({"a": G}, quotes)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("query_id,quote\n1,a,b\n", "line 2: expected 2 fields as in the header"),
        ("query_id,quote,relevance\n1,a,1\n1,a,high\n", "line 3: the level 'high' is not a number"),
        ("query_id,quote,relevance\n1,a,\n", "line 2: the level is missing or NaN"),
        ("query_id,quote\n1,a\n2,\n", "line 3: the quote is empty"),
        ("query_id,quote\n1,a\n,b\n", "line 3 has no query_id"),
        ("query_id,quote\n1,a\n2, \n", "line 3: the quote is empty"),
        ('query_id,quote\n1,"a\n', "not CSV"),
        ("query_id,text\n1,a\n", "the table has no column quote; it has query_id, text"),
        ('{"query_id": "1", "quote": "days."}\n{"query_id": "2", "quote": ""}', "line 2: the quote is empty"),
        ('{"query_id": "1", "quote"', "line 1: not JSON"),
        ("", "expected quotes in JSON Lines, or a table with a header that has query_id"),
    ],
)
def test_files_of_quotes_that_are_wrong(tmp_path, text, problem):
    path = tmp_path / "quotes.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        passages.find_quotes({"a": G}, path)
    assert problem in str(caught.value)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, FileFormatError) == any(
        word in problem for word in ("JSON", "CSV", "fields", "column")
    )


def test_options_that_are_wrong():
    for options in ({"ignore": "case"}, {"ignore": ("case", "accents")}, {"several": "max"}):
        with pytest.raises(ParameterError, match="must be"):
            passages.find_quotes({"a": G}, [QUOTE], **options)
    with pytest.raises(InputError) as caught:
        passages.find_quotes({"a": G}, [QUOTE], several="error")
    assert str(caught.value) == (
        "quotes: item 0, topic '1': the quote 'Pay within 14 days.' occurs at 2 places; make it "
        "longer, name its doc_id, or set several"
    )
    with pytest.raises(InputError, match="texts: document 'a' is 5; it must be a str"):
        passages.find_quotes({"a": 5}, [QUOTE])


# ------------------------------------------------------------------------------------------- tokens

RUN = pd.DataFrame(
    {
        "query_id": ["1", "1", "2"],
        "doc_id": ["a", "b", "a"],
        "score": [3.0, 2, 1],
        "start": [0, 0, 5],
        "length": 10,
    }
)
TEXTS = {"a": "Pay within 14 days.", "b": "one two three"}


def words(text):
    return len(text.split())


def test_tokens_are_counted_per_row():
    calls = []
    run = RUN.assign(rank=7).set_index(pd.Index([4, 4, 2]))
    result = passages.with_tokens(run, TEXTS, lambda text: calls.append(text) or words(text))
    pd.testing.assert_frame_equal(result, run.assign(tokens=[2, 3, 3]))
    assert calls == ["Pay within", "one two th", "ithin 14 d"]
    assert "tokens" not in run
    named = passages.with_tokens(pd.concat([RUN, RUN]), TEXTS.__getitem__, words, name="words")
    assert named["words"].tolist() == [2, 3, 3] * 2


@pytest.mark.parametrize("form", TABLES)
def test_tokens_of_every_form_of_run(form, tmp_path):
    result = passages.with_tokens(TABLES[form](RUN, tmp_path / "run"), TEXTS, words)
    assert [*result.columns] == [*RUN.columns, "tokens"]
    assert result["tokens"].tolist() == [2, 3, 3]


@pytest.mark.parametrize(
    ("change", "count", "problem"),
    [
        (
            {"length": 15},
            words,
            "run: topic '1', document 'b' (row 1): the passage 0:15 ends after the text of 13 ch",
        ),
        ({"doc_id": "c"}, words, "texts lack document 'c'"),
        (
            {},
            lambda _: -1,
            "run: topic '1', document 'a' (row 0): the number of tokens is -1; it must not be neg",
        ),
        (
            {},
            lambda _: 1.5,
            "run: topic '1', document 'a' (row 0): the number of tokens is 1.5; expected a whole",
        ),
        ({}, str.split, "(row 0): the number of tokens is ['Pay', 'within']; expected a whole number"),
        ({}, lambda _: True, "the number of tokens is True; expected a whole number"),
    ],
)
def test_tokens_that_are_wrong(change, count, problem):
    with pytest.raises(InputError) as caught:
        passages.with_tokens(RUN.assign(**change), TEXTS, count)
    assert problem in str(caught.value)


def test_tokens_need_a_run_with_passages_and_a_new_name():
    with pytest.raises(InputError, match="with_tokens needs passages"):
        passages.with_tokens({"1": {"a": 1.0}}, TEXTS, words)
    with pytest.raises(ValueError, match="cannot insert score, already exists"):
        passages.with_tokens(RUN, TEXTS, words, name="score")


def test_tokens_of_chunks():
    place = {"start_index": 0, "end_index": 9, "corpus_id": "x"}
    document = SimpleNamespace(page_content="one two 3", metadata={"start_index": 0, "source": "x"})
    node = SimpleNamespace(text="one two", start_char_idx=0, end_char_idx=9, ref_doc_id="x", metadata={})
    chunks = [document, node, (SimpleNamespace(node=node, score=1), 0.5), {**place, "text": "one"}]
    chunks.append({**place, "content": "a b c d"})
    run = passages.run_of_chunks({"1": chunks}, tokens=words)
    assert run["tokens"].tolist() == [3, 2, 2, 1, 4]
    assert run["tokens"].dtype == "int64"
    assert [*passages.run_of_chunks([[]], tokens=words).columns][-1] == "tokens"
    message = "query '1', chunk 1 has no text whose tokens could be counted: add it"
    with pytest.raises(InputError, match=message):
        passages.run_of_chunks({"1": [document, place]}, tokens=words)
    problem = "query '1', chunk 0: the number of tokens is -1; it must not be neg"
    with pytest.raises(InputError, match=problem):
        passages.run_of_chunks({"1": [document]}, tokens=lambda _: -1)
