"""For any arguments, the command line ends with a result or with a one-line error."""

import contextlib
import io
import re

import click
import pytest
from hypothesis import given, strategies as st
from packed import gzipped

from fuzz.fuzz_cases import error_or_none, fuzz
from fuzz.measure_strings import strings
from ir_graded.cli.main import commands, main

# Runs may be empty.
pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")

QRELS = "1 0 a 3\n1 0 b 1\n1 0 c 0\n2 0 a 1\n2 0 d 2\n"
RUN = "1 Q0 a 1 3.0 t\n1 Q0 b 2 2.0 t\n2 Q0 d 1 9 t\n2 Q0 a 2 8 t\n"
FILES = {
    "qrels.txt": QRELS,
    "a.run": RUN,
    "b.run": RUN.replace("a", "x"),
    "empty": "",
    "text": "this is not a run\n",
    "Q.csv": "topic,a,b\n1,0.5,0.25\n2,0.5,1\n3,0,0.75\n",
    "AP.csv": "topic,a,b\n1,0.5,0.25\n2,0.75,1\n3,0.5,0.5\n",
    "teams.csv": "run,team\na,x\nb,y\n",
    "odd.csv": 'topic,a,b\n1,x,"\n',
    "name with blank.run": RUN,
}

#: Patterns that name the problem if no argument is named: a file of a folder, or a missing item.
PLACE = r"^[\w .~/-]+(, line \d+)?: |^.*'.*'|^unknown |^cannot read |^no |^the path of "
places = st.sampled_from(
    [*FILES, "c.run.gz", "folder", ".", "", "missing", "no/such", "\0", "a" * 300, "-", "~", "\ud800"]
)
numbers = st.sampled_from(
    ["0", "1", "2", "-1", "17", "0.05", "0.5", "1e-9", "nan", "inf", "x", "", "9" * 30, "9" * 5000]
)
words = st.sampled_from(["table", "csv", "jsonl", "latex", "t", "tukey_hsd", "Q", "AP", "a", "b", "x"])
OPTIONS = {
    **dict.fromkeys(["-m", "--measures", "--reference"], strings()),
    **dict.fromkeys(["-p", "--places", "--alpha", "--confidence", "--seed"], numbers),
    **dict.fromkeys(["-o", "--output", "--test", "--baseline"], words),
    **dict.fromkeys(["--matrix", "--one-run-per-team"], places),
    "-B": st.sampled_from(["1", "3", "0", "-1", "x", "9" * 30]),
}


@st.composite
def arguments(draw):
    """Draw a command with files, options and occasionally an invalid part."""
    command = draw(st.sampled_from(["evaluate", "explain", "meta", "measures", "demo", "report", "x", ""]))
    given = [command, *draw(st.lists(places | strings(), max_size=4))]
    for option in draw(st.lists(st.sampled_from(sorted(OPTIONS)), max_size=3)):
        given += [option, draw(OPTIONS[option] | numbers | words)]
    if command in ("evaluate", "report", "meta") and draw(st.booleans()):
        given[1:1] = ["qrels.txt", "a.run", "b.run", "-m", draw(st.sampled_from(["Q AP", "nDCG@2", "P@1 Q"]))]
    given += draw(
        st.lists(st.sampled_from(["-q", "-h", "--help", "--version", "--", "--html=page.html"]), max_size=1)
    )
    return given


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "c.run.gz").write_bytes(gzipped(RUN.encode()))
    (folder / "folder").mkdir()
    return folder


def check(folder, given):
    """Check that the command line prints a result, or main() a one-line error with exit code 2."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(folder)
        wrong = error_or_none(
            "command lines",
            commands.main,
            list(given),
            standalone_mode=False,
            place="|".join([PLACE, *(re.escape(word) for word in given if word)]),
            also=(click.ClickException, click.exceptions.Exit, OSError),
        )
        if wrong is None:
            return
        with contextlib.redirect_stderr(io.StringIO()) as said, pytest.raises(SystemExit) as ended:
            main(list(given))
    assert ended.value.code in (0, 2)
    assert re.fullmatch(r"ir_graded: [^\n]+\n" if ended.value.code else "", said.getvalue()), said.getvalue()


@fuzz(80)
@given(given=arguments())
def test_arguments_give_a_result_or_a_one_line_error(folder, given):
    check(folder, given)
