"""INEX XML submissions are read, or rejected by an error that names the file."""

import re

import pytest
from hypothesis import given, strategies as st

from fuzz.fuzz_cases import error_or_none, fuzz, spoilt
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


def check(folder, submission, article):
    """Check that the submission is read, or rejected."""
    (folder / "run.xml").write_bytes(submission)
    for name in ("a", "b"):
        (folder / f"{name}.xml").write_bytes(article)
    rows = []
    place = rf"^{re.escape(str(folder))}/.*\.xml\b"
    error_or_none(
        "XML submissions",
        lambda: rows.extend(read_submission(folder / "run.xml", folder).itertuples()),
        place=place,
    )
    assert all(row.start >= 0 and row.length >= 0 for row in rows)


@fuzz(250)
@given(
    submission=st.just(SUBMISSION) | spoilt(st.just(SUBMISSION), TOKENS) | st.binary(max_size=40),
    article=st.just(ARTICLE) | spoilt(st.just(ARTICLE), TOKENS),
)
def test_damaged_submissions_are_read_or_rejected(folder, submission, article):
    check(folder, submission, article)
