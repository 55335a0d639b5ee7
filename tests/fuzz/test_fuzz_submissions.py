"""INEX XML submissions are read, or rejected by an error that names the file."""

import re

import pytest
from hypothesis import given, strategies as st

from fuzz.fuzz_cases import accepted, error_or_none, fuzz, spoilt
from ir_graded.passages import read_submission

SUBMISSION = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE inex-submission SYSTEM "inex.dtd">
<inex-submission participant-id="1" run-id="r"><topic topic-id="7">
<result><file>a</file><path>/article[1]/p[2]/text()[1]</path><rank>1</rank></result>
<result><file>b</file><path>/article[1]</path></result>
</topic></inex-submission>"""
ARTICLE = b"<?xml version='1.0'?><article><p>one</p><!-- x --><p>two <b>three</b> four</p></article>"
TOKENS = [
    *b"< > / ]]> <![CDATA[ <!-- --> <?x?> &lt; &x; &#0; &#xD800; \0 \xff\xfe \xef\xbb\xbf <p> </p>".split(),
    *b"../ [0] [999999999] text() <result/> encoding='UTF-16' encoding='utf-7' encoding='x' x:".split(),
    *(
        b"<!ENTITY x 'y'>",
        b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
        b"<topic topic-id=' '/>",
    ),
    *(b"/p[2]" * 300, b"<p>" * 300, b"<p/>", b"xmlns:x='y'"),
    b"<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='/etc/passwd'/>",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("lxml")
    return tmp_path_factory.mktemp("fuzz")


def write(folder, submission, article):
    (folder / "run.xml").write_bytes(submission)
    for name in ("a", "b"):
        (folder / f"{name}.xml").write_bytes(article)


def check(folder, submission, article):
    """Check that the submission is read, or rejected."""
    write(folder, submission, article)
    rows = []
    place = rf"^{re.escape(str(folder))}/.*\.xml\b"
    error_or_none(
        "XML submissions",
        lambda: rows.extend(read_submission(folder / "run.xml", folder).itertuples()),
        place=place,
    )
    assert all(row.start >= 0 and row.length >= 0 for row in rows)


#: Markup that may be inserted between elements without a change of the text.
BETWEEN = st.lists(st.sampled_from([b"<!-- x -->", b"<?x y?>"]), max_size=3).map(b"".join)


@fuzz(60)
@given(first=BETWEEN, second=BETWEEN, part=st.integers(1, 2))
def test_valid_submissions_are_read(folder, first, second, part):
    submission = SUBMISSION.replace(b"<result>", first + b"<result>").replace(b"p[2]", b"p[%d]" % part)
    write(folder, submission, ARTICLE.replace(b"</p>", second + b"</p>"))
    rows = accepted(
        "right XML submissions",
        lambda: list(read_submission(folder / "run.xml", folder).itertuples(index=False)),
    )
    start, length = {1: (0, 3), 2: (3, 4)}[part]
    assert rows[0][:2] == ("7", "a")
    assert (rows[0].start, rows[0].length) == (start, length)
    assert rows[1][:2] == ("7", "b")
    assert (rows[1].start, rows[1].length) == (0, 17)


@fuzz(250)
@given(
    submission=st.just(SUBMISSION) | spoilt(st.just(SUBMISSION), TOKENS) | st.binary(max_size=40),
    article=st.just(ARTICLE) | spoilt(st.just(ARTICLE), TOKENS),
)
def test_damaged_submissions_are_read_or_rejected(folder, submission, article):
    check(folder, submission, article)
