"""No INEX XML submission or article gives another error than those promised."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from fuzz.fuzz_cases import fuzz, refused, spoilt
from ir_graded.inputs.inex_xml import read_submission

SUBMISSION = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE inex-submission SYSTEM "inex.dtd">
<inex-submission participant-id="1" run-id="r"><topic topic-id="7">
<result><file>a</file><path>/article[1]/p[2]/text()[1]</path><rank>1</rank></result>
<result><file>b</file><path>/article[1]</path></result>
</topic></inex-submission>"""
ARTICLE = b"<?xml version='1.0'?><article><p>one</p><!-- x --><p>two <b>three</b> four</p></article>"
TOKENS = [
    *(
        b"<",
        b">",
        b"/",
        b"]]>",
        b"<![CDATA[",
        b"<!--",
        b"-->",
        b"<?x?>",
        b"&lt;",
        b"&x;",
        b"&#0;",
        b"&#xD800;",
        b"\0",
    ),
    *(
        b"<p>",
        b"</p>",
        b"<p/>",
        b"<!ENTITY x 'y'>",
        b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
    ),
    *(
        b"../",
        b"[0]",
        b"[999999999]",
        b"text()",
        b"<result/>",
        b"<topic topic-id=' '/>",
        b"encoding='UTF-16'",
    ),
    *(
        b"encoding='utf-7'",
        b"encoding='x'",
        b"xmlns:x='y'",
        b"x:",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"/p[2]" * 300,
    ),
    *(b"<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='/etc/passwd'/>", b"<p>" * 300),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("lxml")
    return tmp_path_factory.mktemp("fuzz")


def check(folder, submission, article):
    """The submission is read, or refused."""
    (folder / "run.xml").write_bytes(submission)
    for name in ("a", "b"):
        (folder / f"{name}.xml").write_bytes(article)
    rows = []
    refused("XML submissions", lambda: rows.extend(read_submission(folder / "run.xml", folder)))
    assert all(row.start >= 0 and row.length >= 0 for row in rows)


@fuzz(250)
@given(
    submission=st.just(SUBMISSION) | spoilt(st.just(SUBMISSION), TOKENS) | st.binary(max_size=40),
    article=st.just(ARTICLE) | spoilt(st.just(ARTICLE), TOKENS),
)
def test_submissions_are_read_or_refused(folder, submission, article):
    check(folder, submission, article)
