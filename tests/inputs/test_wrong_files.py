"""Texts of files that cannot be read, or not for certain: the error names the problem and its line."""

import re
from functools import partial

import pytest

import ir_graded
from ir_graded import read_qrels, read_run
from ir_graded.errors import FileFormatError, InputError

SWAPPED = "are the qrels and the run swapped\\?"
LETTERS = "expected 4 fields \\(NTCIR-EARLY qrels: topic S\\|A\\|B\\|C doc 0\\|1\\), found 3"
SEMICOLONS = "the fields are separated by semicolons"
CLASSES = "may be TREC qrels .* or NTCIR-CLASSES qrels"
GOLD = "may be TREC qrels .* or GENOMICS qrels"
SAMPLED = "all lines .* sampled .* INEX .*format='sampleval'"
COUNTS = "(?!.*sampled).*but 0 <= rel_chars <= doc_len"
BOM, MARK = "\ufeff", "a byte-order mark inside the file"
FRAME = ".*columns or rows of a frame.*orient='records'"
HEAD = "query_id,doc_id,relevance"

#: Texts of qrels, and what the error says behind the path.
QRELS = [
    # Headers, and fields below them.
    ("query_id,doc_id,level\n1,a,2\n", ", line 1: if this is a header, .* no column relevance; it has"),
    ("qid\tdocno\tscore\n1\ta\t1\n", f", line 1: .*it looks like a run \\(qid, docno, score\\).*{SWAPPED}"),
    ("query-id corpus-id score\n1 a 2\n", ", line 1: looks like a header; expected query-id, corpus"),
    ("Query_ID,Doc_ID,Relevance\n1,a,2\n", ", line 1: looks like a header; expected query_id, doc"),
    (f"{HEAD}\n1,a,2\n1,,2\n", ", line 3: the field doc_id is empty"),
    (f"{HEAD}\n1,a,2\n ,b,2\n", ", line 3: the field query_id is empty"),
    (f"{HEAD}\n1,a,\n", ", line 2: the field relevance is empty"),
    (f"{HEAD}\n1,a,1_0\n", ", line 2: not a number: '1_0'"),
    (f"{HEAD}\n1,a,\u0662\n", ", line 2: not a number"),
    (f"{HEAD},doc_id\n1,a,1,b\n", ", line 1: several columns are named doc_id"),
    (f'{HEAD}\n1,"a,1\n', ", line 2: .*begins with a quotation mark must end"),
    (f"# made by hand\n{HEAD}\n", ", line 2: a header must be the first line; remove the lines before it"),
    (f"{HEAD}\n# made by hand\n", ", line 2: expected 3 fields as in the header, found 1"),
    # JSON.
    ('{"queries": [{"query_text": "q"}]}', ": is JSON, an object with queries; give a dict of dicts"),
    ("[1, 2]", ": is JSON, an array; give a dict of dicts"),
    ('{"1": {"a": 1}', ": looks like JSON but cannot be read"),
    ('{"1": {"a": 1, "a": 2}}', ".*the key 'a' appears twice in an object"),
    ('{"1": {"a": 1}, "a": {"b": 1}, "a": {}}', ".*the key 'a' appears twice in an object"),
    ('{"query_id":{"0":1,"1":1},"doc_id":{"0":7,"1":8},"relevance":{"0":1,"1":2}}', FRAME),
    ('{"0":{"query_id":1,"doc_id":7,"relevance":1},"1":{"query_id":1,"doc_id":8,"relevance":2}}', FRAME),
    # Fields between tabs.
    ("google maps\t3665\t1\n", ", line 1: level '1' is not L0, L1, .* between tabs"),
    ("\n# x\na b\t0\td\t1\na b\t0\te\tx y\n", ", line 4: level 'x y' is not a"),
    # Levels of NTCIR with and without L, and letters.
    *((f"q d L1\nq e {level}\n", ", line 2: level .* is not L0, L1, L2, ...")
      for level in ("2", "l2", "L", "L-1", "L1.5", "L+1", "LL1", "L1L", "L1_0", "L\u0661", "L" + "9" * 400)),
    *((f"0001 d1 {level}\n0001 d2 0\n", f", line 1: level '{level}' is not L0, L1, L2, ...; format='ntcir-c")
      for level in ("0.5", "2", "-1", ".25", "1e-3")),
    ("1 A a 1\n\n1 C b 1", ", line 3: the last field is '1' for the letter C; .*: '1 C b 1'$"),
    ("1 A a 1\n\n1 A b 0", ", line 3: the last field is '0' for the letter A; .*: '1 A b 0'$"),
    ("1 S a 0\n\n1 A b 0", ", line 1: the last field is '0' for the letter S; .*: '1 S a 0'$"),
    ("1 B a 1\n1 A b 1\n1 B c 0", ", line 3: the last field is '0' for the letter B; .*: '1 B c 0'$"),
    ("1 B a 0\n\n1 B b 1", ", line 3: the last field is '1' for the letter B; .*: '1 B b 1'$"),
    ("1 A a 1\n\n1 A b 2", ", line 3: the last field is '2' for the letter A; .*: '1 A b 2'$"),
    *((f"1 A a 1\n\n1 {letter} b 1", f", line 3: the second field must be S, A, B or C, not '{letter}'")
      for letter in "Da0"),
    ("1 A a 1\n\n1 A b", f", line 3: {LETTERS}: '1 A b'$"),
    *((f"{before}1 A e {level}\n", f", line {1 + len(before) // 8}: looks like an NTCIR file by letters, but "
       f"the level is '{level}'; name the format \\(format='trec' takes the fourth .*'1 A e {level}'$")
      for level in ("2", "-1", "0.5", "01") for before in ("", "1 0 d 1\n" * 3)),
    # Other layouts, samples and passages.
    ("\n1;2;d;L2\n", f", line 2: {SEMICOLONS}"),
    ("\n1;a b;L3;1\n", f", line 2: {SEMICOLONS}"),
    ("\n1 7 L3 1\n", f", line 2: {CLASSES}"),
    ("\n1 Q0 L3 1\n", f", line 2: {CLASSES}"),
    ("\n1 d S\n", ", line 2: letters as levels belong to four fields"),
    ("\n200\t12642603\t67096\t14274\t\n", f", line 2: {GOLD}"),
    ("1 0 d1 1 1\n\n1 0 d2 1 2", f": {SAMPLED}"),  # strata, or levels that may be probabilities
    ("1 d1 1 1 1\n\n1 d2 0 1 1", f": {SAMPLED}"),
    ("1 d1 0 2 1\n\n1 d2 0 1 1", f": {SAMPLED}"),
    ("200\t12642603\t67096\t14274\t7\n", ".*all lines have"),
    ("200\t12642603\t67096\t14274\t70\n", ".*the fifth field is 70:"),
    *((f"1 Q0 851 30 500 100 0:30\n1 Q0 852 {counts} 0 0:9\n", f", line 2: {COUNTS}")
      for counts in ("9 8", "-1 8", "0 -1")),
    (f"1 Q0 851 30 500 100 0:30\n1 Q0 {BOM}852 0 500 0\n", f", line 2: {MARK}"),
    # Its rank and score could be rel_chars and doc_len; as such, every document would be relevant.
    ("1 Q0 d1 1 99 tag\n1 Q0 d2 2 98 tag\n", f", line 1: .*TREC run.*{SWAPPED}"),
]  # fmt: skip

#: Texts of runs.
RUNS = [
    ("query_id,document,score\n1,a,2\n", ", line 1: if this is a header, .* no column doc_id; it has"),
    ("query_id; doc_id; scroe\n1,a,2\n", ", line 1: if this is a header, .* no column score or rank; it has"),
    ("query_id\tdocument\tscore\n1,a,2\n", ", line 1: if this is a header, .* no column doc_id; it has"),
    *((f"{line}\n", ", line 1: expected a run line of") for line in ("1;a", "a line of words")),
    ("qid,docno,label\n1,a,1\n", ", line 1: the table has no .*it looks like qrels \\(qid, docno, label\\)"),
    ("qid,docno,score\n1,a,1\n1,b\n", ", line 3: expected 3 fields as in the header, found 2"),
    ("qid,docno,score\n\n1,a,high\n", ", line 3: could not convert string to float: 'high'"),
    ("qid,docno,score,start,length\n1,a,1,x,9\n", ", line 2: could not convert string to float: 'x'"),
    ("\r\n\r\nqid|docno|score\r\n1|a|2\r\n", ", line 3: looks like a header; .* separated by tabs, commas"),
    ('{"1": 5}', ": is JSON, an object with 1; give a dict of dicts"),
    ("a b\td\t1\t2.5\tt\n", ", line 1: expected a run .*, found 5; .* between tabs"),
    ("1 Q0 a 1 3 12 t\n", ", line 1: expected a run line of 6 fields .* found 7"),
    *(("200 12595615 1 48.63 28426 295\n".replace(" ", blank).replace("\n", end),
       ", line 1: may be TREC run .* or GENOMICS run .*format='trec' or format='genomics'")
      for blank in ("\t", " ") for end in ("\n", "\t\n")),
    ("1 0 a 2\n1 0 b 1\n1 0 c 0\n", f", line 1: expected a run line, .*TREC qrels.*{SWAPPED}"),
    (f"{BOM}{BOM}1 Q0 a 1 1 t", f", line 1: {MARK}"),
    (f"1 Q0 {BOM}a 1 1 t", f", line 1: {MARK}"),
    (f"1 Q0 a 1 1 t{BOM}", f", line 1: {MARK}"),
]  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize(
    ("read", "text", "problem"),
    [(read, *one) for read, texts in ((read_qrels, QRELS), (read_run, RUNS)) for one in texts],
    ids=map(str, range(len(QRELS) + len(RUNS))),
)
def test_texts_are_rejected_by_readers_and_scores(read, text, problem, write):
    path = write(text, "wrong")
    tables = {read_qrels: {"1": {"d": 1.0}}, read_run: {"1": {"d": 1}}}
    for call in (
        lambda: read(path),
        lambda: ir_graded.evaluate("AP", *{**tables, read: path}.values()),
    ):
        with pytest.raises(FileFormatError) as caught:
            call()
        assert re.match(re.escape(str(path)) + problem, str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("read", "format", "text", "problem"),
    [
        (read_qrels, "trec", "google maps\t3665\t1\n", "line 1: expected 4 .* 3; .* between tabs"),
        (read_qrels, "inex", "1 Q0 d1 1 99 tag\n", "line 1: .*bep, the sixth field, is 'tag'"),
        (read_qrels, "inex", "1 Q0 852 9 8 0 0:9\n", f"line 1: {COUNTS}"),
        (read_qrels, "ntcir-early", "1 A a 1\n1 D b 1", "line 2: the second field must be S, A, B or C"),
        (read_qrels, "ntcir-early", "1 A a 1\n1 A b 0", "line 2: the last field is '0' for the letter A"),
        (partial(read_run, rank="column"), "genomics", "1 2 x 3.0 1 2 t\n", "line 1.: the rank 'x' is not a"),
        (read_qrels, "chroma", "x^a\n1 2\n", "not a CSV file|the CSV file has no column"),
    ],
)
def test_texts_are_rejected_in_a_named_format(read, format, text, problem, write):
    with pytest.raises(FileFormatError, match=f"wrong.{{1,2}}{problem}|{problem}"):
        read(write(text.encode("latin-1"), "wrong"), format=format)


def test_a_text_that_is_too_long_for_a_path_is_no_dataset():
    with pytest.raises(InputError, match="is neither a file nor a dataset id"):
        ir_graded.evaluate("Q", "x" * 5000, {"1": {"a": 1.0}})
