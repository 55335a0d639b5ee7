"""The command line from outside: output, exit code, one line on stderr."""

import csv
import io
import json
import re
from functools import partial

import ir_measures
import numpy as np
import pytest
from ecosystem.processes import python
from helpers import assert_command_fails, covid_sample, run_command
from packed import gzipped
from tabulate import tabulate

import ir_graded
from ir_graded._utils.publications import publications
from ir_graded._utils.text_tables import FORMATS, PAPERS, in_columns, json_line
from ir_graded.cli.main import QUESTIONS, commands, summary
from ir_graded.errors import printable
from ir_graded.measures import REGISTRY
from ir_graded.measures.base import sections
from ir_graded.measures.classic import CLASSICS

QRELS = "1 0 a 3\n1 0 b 1\n1 0 c 0\n2 0 a 1\n2 0 d 2\n"
GOOD = "1 Q0 a 1 3.0 t\n1 Q0 b 2 2.0 t\n2 Q0 d 1 9 t\n2 Q0 a 2 8 t\n"
POOR = "1 Q0 c 1 3.0 t\n1 Q0 b 2 2.0 t\n2 Q0 x 1 9 t\n2 Q0 a 2 8 t\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "poor.run").write_text(POOR)
    (tmp_path / "good.run.gz").write_bytes(gzipped(GOOD.encode()))
    return tmp_path


@pytest.fixture
def run(capsys):
    return partial(run_command, capsys)


BOTH = ("evaluate", "qrels.txt", "poor.run", "good.run.gz")


def expected(measure):
    qrels, runs = "qrels.txt", ["good.run.gz", "poor.run"]
    return ir_graded.evaluate([measure], qrels, runs).matrix(measure)


@pytest.mark.usefixtures("files")
def test_the_table_lists_the_best_run_first(run):
    code, out, err = run(*BOTH, "-m", "Q P-measure@10")
    assert (code, err) == (0, "")
    head, rule, *rows = out.splitlines()
    assert head.split() == ["run", "Q", "P-measure@10"]
    assert set(rule) <= {"-", " "}
    assert [row.split()[0] for row in rows] == ["good.run", "poor.run"]
    assert rows[1].split()[1] == f"{expected('Q')['poor.run'].mean():.4f}"


@pytest.mark.parametrize("output", sorted(FORMATS.keys() - {"jsonl", "csv"}))
@pytest.mark.usefixtures("files")
def test_formats_have_the_cells_of_csv(run, output):
    expected, found = (run(*BOTH, "-m", "Q AP", "-q", "-o", n)[1].partition("%")[0] for n in ("csv", output))
    cells = re.compile(r"good\.run|poor\.run|\b[12]\b(?!\.)|all|\d\.\d{4}")
    assert cells.findall(found) == cells.findall(expected)
    row = "<tr><th>good.run</th><th>1</th><td>1.0000</td><td>1.0000</td></tr>"
    head = "<table>\n<tr><th>run</th><th>query_id</th><th>Q</th><th>AP</th></tr>"
    starts = {"html": f"{head}\n{row}\n", "latex": "\\begin{tabular}{llrr}\n\\toprule\n run "}
    assert found.startswith((starts.get(output, "run"), "| run"))
    ends = {"html": "</td></tr>\n</table>\n", "latex": "\\\\\n\\bottomrule\n"}
    assert found.endswith(ends.get(output, "\n"))


@pytest.mark.parametrize(("output", "delimiter"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.usefixtures("files")
def test_separated_values_hold_topics_and_means(run, output, delimiter):
    code, out, _ = run(*BOTH, "-m", "Q", "-m", "NCU(stop='gu', beta=0)@10", "-q", "-o", output, "-p", "-1")
    rows = list(csv.DictReader(io.StringIO(out), delimiter=delimiter))
    assert code == 0
    assert [(row["run"], row["query_id"]) for row in rows] == [
        (name, topic) for name in ("good.run", "poor.run") for topic in ("1", "2", "all")
    ]
    scores = expected("Q")
    for row in rows:
        if row["query_id"] != "all":
            assert float(row["Q"]) == scores.loc[row["query_id"], row["run"]]
    assert "NCU(beta=0)@10" in rows[0]


@pytest.mark.parametrize(("output", "delimiter"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize("name", ["a\rb", "a\nb", "a\r\nb", "\r", 'a"b', "a,b\tc"], ids=ascii)
def test_separated_values_keep_a_name_in_one_row(files, run, output, delimiter, name):
    (files / name).write_text(POOR)
    code, out, _ = run("evaluate", "qrels.txt", name, "poor.run", "-m", "Q", "-o", output)
    assert code == 0
    rows = list(csv.reader(io.StringIO(out, newline=""), delimiter=delimiter))
    assert rows == [["run", "Q"], [name, rows[1][1]], ["poor.run", rows[1][1]]]


@pytest.mark.usefixtures("files")
def test_json_lines(run):
    _, out, _ = run(*BOTH, "-m", "Q map", "-o", "jsonl", "-p", "2")
    records = [json.loads(line) for line in out.splitlines()]
    assert records[0] == {"run": "good.run", "measure": "Q", "value": 1.0}
    assert {record["measure"] for record in records} == {"Q", "AP"}
    assert records[2]["value"] == round(expected("Q")["poor.run"].mean(), 2)


def test_latex_and_markdown_escape_cell_separators(files, run):
    (files / "[a|b_c--.run").write_text(POOR)
    _, latex, _ = run(
        "evaluate", "qrels.txt", "[a|b_c--.run", "-m", "NCU(stop='up_to_preferred') Q", "-o", "latex"
    )
    _, markdown, _ = run("evaluate", "qrels.txt", "[a|b_c--.run", "-m", "Q", "-o", "markdown")
    rules = [line for line in latex.splitlines() if line.endswith("rule")]
    assert rules == [r"\toprule", r"\midrule", r"\bottomrule"]
    assert "\n" + r"{}[a\textbar{}b\_c-{}-.run & \textbf{0.3667} & " in latex
    assert r"up\_to\_preferred" in latex
    assert r"| \[a\|b\_c--.run " in markdown


#: Characters that end a line, control a terminal, change the direction of text, or are invisible.
UNSEEN = ["\n", "\r", "\x1b", "\x9b", "\u2028", "\u202e", "\u2066", "\u200b", "\ufeff"]


@pytest.mark.slow
@pytest.mark.parametrize("char", UNSEEN, ids=ascii)
def test_a_name_with_control_characters_stays_in_one_row(files, run, char):
    (files / f"a{char}b.run").write_text(POOR)
    (files / "plain.run").write_text(POOR)
    command = ("evaluate", "qrels.txt", f"a{char}b.run", "plain.run", "-m", "Q", "-o")
    for output in [name for name, one in FORMATS.items() if not one.exact]:
        rows = run(*command, output)[1].splitlines()
        text = PAPERS[output].text if output in PAPERS else printable
        assert len([row for row in rows if text(f"a{char}b.run") in row or "plain.run" in row]) == 2
        assert all(row.isprintable() for row in rows)
    lines = run(*command, "jsonl")[1].splitlines()
    assert all(line.isprintable() for line in lines)
    assert f"a{char}b.run" in [json.loads(line)["run"] for line in lines]


@pytest.mark.parametrize("char", UNSEEN[2:], ids=ascii)
def test_errors_show_no_control_character_of_a_name(files, run, char):
    (files / f"a{char}b.run").write_text("1 Q0 a 1 high t\n")
    _, _, err = run("evaluate", "qrels.txt", f"a{char}b.run", "-m", "Q")
    assert err.startswith("ir_graded: a")
    assert err.rstrip("\n").isprintable()
    if not char.isspace():
        assert f"a{ascii(char)[1:-1]}b.run, line 1" in err


def test_an_explanation_shows_no_control_character(files, run):
    (files / "qrels.txt").write_text("1 0 d\x1b[31m 1\n")
    (files / "a\u202eb.run").write_text("1 Q0 d\x1b[31m 1 3.0 t\n")
    for output in ("table", "markdown", "jsonl"):
        code, out, _ = run("explain", "Q", "qrels.txt", "a\u202eb.run", "1", "-o", output)
        assert code == 0
        assert all(line.isprintable() for line in out.splitlines())
    assert r"d\x1b[31m" in run("explain", "Q", "qrels.txt", "a\u202eb.run", "1")[1]


def test_json_has_null_for_nan():
    def fail(constant):
        raise AssertionError(constant)

    line = json_line({"a": float("nan"), "b": float("inf"), "c": -float("inf"), "d": 0.5, "e": "nan", "f": 1})
    assert json.loads(line, parse_constant=fail) == {
        "a": None, "b": None, "c": None, "d": 0.5, "e": "nan", "f": 1
    }  # fmt: skip


@pytest.mark.parametrize(("name", "cell"), [("a|b", r"a\|b"), (r"a\|b", r"a\\\|b"), (r"a\b", r"a\\b")])
def test_names_do_not_end_markdown_cells(files, run, name, cell):
    (files / name).write_text(POOR)
    _, out, _ = run("evaluate", "qrels.txt", name, "-m", "Q", "-o", "markdown")
    assert f"| {cell} " in out
    # A bar without a backslash before it ends a cell.
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", out.splitlines()[2])) == 3


def test_a_topic_with_the_name_of_the_means_is_rejected(files, run):
    (files / "qrels.txt").write_text(QRELS + "all 0 a 1\n")
    (files / "run.txt").write_text(GOOD + "all Q0 a 1 1 t\n")
    failed = run("evaluate", "qrels.txt", "run.txt", "-m", "Q", "--by-topic")
    assert_command_fails(failed, "topic 'all'", "--by-topic")
    assert run("evaluate", "qrels.txt", "run.txt", "-m", "Q")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["{}", "{}@10", "P_{}", "Q({}=1)", "nDCG@{}", "'{}"])
@pytest.mark.usefixtures("files")
def test_a_measure_of_a_million_characters_is_shortened_in_the_error(run, measure):
    text = measure.format("x" * 10**6)
    code, out, err = run(*BOTH, "-m", text)
    assert (code, out) == (2, "")
    assert len(err) < 2000
    with pytest.raises((NameError, ValueError)) as caught:
        ir_graded.evaluate([text], "qrels.txt", "poor.run")
    assert len(str(caught.value)) < 2000
    with pytest.raises((NameError, ValueError)) as caught:
        ir_measures.parse_trec_measure(text)
    assert len(str(caught.value)) < 2000


def test_wrong_lines_are_named_by_file_and_line(files, run):
    (files / "bad.run").write_text(POOR + "2 Q0 y 3 high t\n")
    assert_command_fails(run("evaluate", "qrels.txt", "bad.run", "-m", "Q"), "bad.run, line 5", "high")
    (files / "twice.run").write_text(POOR + "2 Q0 x 3 1 t\n")
    failed = run("evaluate", "qrels.txt", "twice.run", "-m", "Q")
    assert_command_fails(failed, "twice.run, line 3", "twice.run, line 5", "'x'")


@pytest.mark.parametrize(
    ("measure", "part"),
    [
        ("P-mesure", "Did you mean 'P-measure'?"),
        ("Q, AP", "separate measures by blanks"),
        ("Q(beta=-1)", "beta=-1"),
        ("nCG", "nCG@10"),
        ("R", "R@10"),
        ("nDCG(foo=1)@10", "foo"),
        ("nDCG@10.5", "10.5"),
        ("", "no measure given"),
    ],
)
@pytest.mark.usefixtures("files")
def test_wrong_measures_are_rejected(run, measure, part):
    assert_command_fails(run(*BOTH, "-m", measure), part)


def test_other_wrong_calls_are_rejected(files, run):
    failed = run("evaluate", "nowhere", "poor.run", "-m", "Q")
    assert_command_fails(failed, "nowhere", "neither a file nor a dataset id")
    assert_command_fails(run("evaluate", "qrels.txt", str(files), "-m", "Q"), str(files))
    assert_command_fails(run(*BOTH), "-m")
    assert_command_fails(run("evaluate", "qrels.txt", "-m", "Q"), "RUN")
    (files / "other.run").write_text("9 Q0 a 1 1 t\n")
    failed = run("evaluate", "qrels.txt", "other.run", "-m", "Q")
    assert_command_fails(failed, "share no topic", "'9'", "'1'", "'2'")


CUT = (
    "ir_graded: warning: Run 'cut.run' lacks 1 of the 2 topics of the qrels (the first is '1') and scores 0 "
    "on them; 1 of its topics is not in the qrels.\n"
)


@pytest.fixture
def cut(files):
    (files / "cut.run").write_text("".join(GOOD.splitlines(keepends=True)[2:]) + "9 Q0 a 1 1 t\n")


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize(
    "command", ["evaluate -o table", "evaluate -o jsonl", "evaluate -o csv", "meta -B 20"]
)
def test_missing_topics_are_one_line_on_stderr(run, command):
    name, *options = command.split()
    arguments = (name, "qrels.txt", "cut.run", "poor.run", "-m", "Q AP", *options)
    code, out, err = run(*arguments)
    assert (code, err) == (0, CUT)
    assert run(*arguments, "--quiet") == (0, out, "")
    assert "cut.run" in out or name == "meta"


@pytest.mark.usefixtures("cut")
def test_explain_does_not_warn_of_a_missing_topic(run):
    code, out, err = run("explain", "Q", "qrels.txt", "cut.run", "1")
    assert (code, err) == (0, "")
    assert "The run has no document for the topic" in out


@pytest.mark.parametrize("resamples", ["0", "10000001", "many"])
def test_a_number_of_replicates_out_of_range_is_rejected(run, resamples):
    assert_command_fails(run("meta", "--matrix", "scores.csv", "-B", resamples), "-B", resamples)


@pytest.mark.usefixtures("files")
def test_too_little_memory_is_reported_in_one_line(run, monkeypatch):
    def full(*_arguments, **_options):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr("ir_graded.evaluation.evaluate.GradedEvaluator", full)
    assert_command_fails(run(*BOTH, "-m", "Q"), "not enough memory", "9 TiB")


def test_measures_lists_every_measure_with_its_parameters_and_names(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    code, out, _ = run("measures")
    assert code == 0
    for name, measure in REGISTRY.items():
        assert name in out
        assert measure.SHORT_DESC in out
        assert measure.SOURCE in out
        for parameter in measure.SUPPORTED_PARAMS:
            assert parameter in out


def test_measures_prints_publications_as_bibtex(run):
    code, out, _ = run("measures", "Q@10", "GMAP", "--bibtex")
    assert code == 0
    assert re.findall(r"^@\w+\{(\w+),$", out, re.MULTILINE) == [
        *("harman1992evaluation", "robertson2006gmap", "sakai2004new")
    ]
    assert len(re.findall("^@", run("measures", "--bibtex")[1], re.MULTILINE)) == len(publications())


@pytest.mark.parametrize("name", ["Q", "Q-measure", "Q(beta=0)@5"])
def test_measures_explains_one_measure(run, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "1000")
    code, out, err = run("measures", name)
    assert (code, err) == (0, "")
    assert out.startswith("Q  Q-measure\n\nAP for graded relevance: the mean over the relevant documents of")
    for part in (
        "BR(n) = (C(n) + beta cg(n)) / (n + beta cg*(n)). In [0, 1]",
        "\n\nUse it if all relevant documents matter",
        "\n\nParameters:\n    ",
        "    beta=1             weight of gain against count in the blended ratio: a number >= 0 or inf\n",
        'ir_graded evaluate qrels.txt bm25.run -m "Q@10"',
        "    {Q: 0.75}\n",
        'Source: Sakai, "New Performance Metrics based on Multigrade Relevance" (NTCIR-4,\n2004).',
    ):
        assert part in out
    assert "Lacks" not in out


def test_measures_explains_measures_of_both_packages_each_once(run):
    _, out, _ = run("measures", "nDCG@10 D-Q", "nDCG")
    assert out.count("On the command line:") == 2
    assert "    dcg='log2'         DCG formulation\n" in out
    assert "    D-nDCG, short for D(measure='nDCG')\n" in out
    assert_command_fails(run("measures", "qq"), "Unknown measure 'qq'. Did you mean 'Q'?")
    for words in (["hit", "rate"], ["hit rate"], ["hit_rate"]):
        assert_command_fails(run("measures", *words), "Unknown measure 'hit_rate'. Did you mean 'Success'?")


def test_measures_explains_measures_of_ir_measures_as_this_package_computes_them(run):
    for name in ("AP", "nDCG", "RBP"):
        about = sections(CLASSICS[name])
        assert about["Summary"] in run("measures", name)[1]
        assert about["Summary"] != sections(type(CLASSICS[name].MEASURE))["Summary"]


def test_the_example_of_a_measure_names_a_measure(run):
    for name in {measure.NAME for measure in REGISTRY.values()}:
        _, out, _ = run("measures", name)
        [example] = re.findall(r'-m "(.*)"\n', out)
        assert str(ir_measures.parse_measure(example)) == example


def test_demo_prints_a_leaderboard_of_the_sample(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    covid = covid_sample()
    for name in covid.runs:
        assert name in out
    best = ir_measures.calc_aggregate(["P-measure"], covid.qrels, covid.runs["base.unipd.it"])
    assert f"base.unipd.it           {next(iter(best.values())):.4f}" in out
    assert max(map(len, out.splitlines())) <= 80


def test_help_and_version_are_printed(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run("--version")[:2] == (0, f"ir_graded, version {ir_graded.__version__}\n")
    code, out, _ = run("evaluate", "--help")
    assert code == 0
    assert "QRELS" in out
    code, out, _ = run("--help")
    assert code == 0
    answers = re.split(r"\n\n(\S.*\?)\n", out)
    assert answers[1::2] == [*QUESTIONS]
    assert max(map(len, out.splitlines())) <= 80
    for group, text in zip(QUESTIONS.values(), answers[2::2], strict=True):
        assert re.findall(r"^  (\S+(?: \S+)?)  ", text, re.MULTILINE) == [*group]


@pytest.mark.slow
def test_meta_keeps_one_run_per_team(files, run):
    rng = np.random.default_rng(0)
    paths = []
    for number in range(4):
        lines = [f"{topic} Q0 {doc} 0 {rng.random():.4f} t\n" for topic in ("1", "2") for doc in "abcdx"]
        paths.append(f"run{number}")
        (files / paths[-1]).write_text("".join(lines))
    (files / "teams.csv").write_text("run,team\nrun0,A\nrun1,A\nrun2,B\nrun3,B\n")
    arguments = ("meta", "qrels.txt", *paths, "-m", "Q AP", "-B", "50", "--reference", "map", "-o", "csv")
    code, out, _ = run(*arguments, "--one-run-per-team", "teams.csv", "--seed", "3")
    assert code == 0
    assert {row["measure"] for row in csv.DictReader(io.StringIO(out))} == {"Q", "AP"}
    assert out == run(*arguments, "--one-run-per-team", "teams.csv", "--seed", "3")[1]
    (files / "teams.csv").write_text("run,team\nrun0,A\n")
    assert_command_fails(run(*arguments, "--one-run-per-team", "teams.csv"), "teams.csv", "run1")


def test_wrong_calls_of_meta_are_rejected(files, run):
    assert_command_fails(run("meta"), "--matrix")
    assert_command_fails(run("meta", "qrels.txt", "poor.run", "--matrix", "empty.csv"), "--matrix")
    assert_command_fails(run("meta", "qrels.txt", "poor.run", "-m", "Q"), "at least 2 systems")
    (files / "empty.csv").write_text("")
    assert_command_fails(run("meta", "--matrix", "empty.csv"), "empty.csv")


@pytest.mark.slow
@pytest.mark.parametrize("output", PAPERS)
def test_tables_for_papers_have_the_marks_of_the_api(files, run, output):
    rng = np.random.default_rng(0)
    topics = range(8)
    (files / "q.txt").write_text("".join(f"{t} 0 d{at} {at % 3}\n" for t in topics for at in range(9)))
    for name, drift in (("up", 9.0), ("flat", 0.0)):
        rows = [(t, d, drift * (d % 3) + rng.random()) for t in topics for d in range(9)]
        (files / f"{name}.run").write_text("".join(f"{t} Q0 d{d} 0 {score} x\n" for t, d, score in rows))
    command = ("evaluate", "q.txt", "up.run", "flat.run", "-m", "Q AP", "-o", output)
    scores = ir_graded.evaluate(["Q", "AP"], "q.txt", ["up.run", "flat.run"])
    write = getattr(scores, f"to_{output}")
    for options, given in (
        (("--baseline", "flat"), {"baseline": "flat"}),
        (("--letters", "-p", "-1"), {"letters": True, "digits": -1}),
    ):
        code, out, _ = run(*command, *options)
        assert (code, out.rstrip("\n")) == (0, write(**given))
    assert re.search(r"†|\\dagger", write(baseline="flat"))
    if output == "latex":
        assert run(*command)[1].rstrip("\n") == write()


@pytest.mark.parametrize("options", [("-o", "csv"), ("-o", "latex", "-q"), ("-o", "latex", "--estimates")])
@pytest.mark.parametrize("mark", [("--baseline", "good"), ("--letters",)])
def test_marks_that_no_table_shows_are_usage_errors(run, options, mark):
    code, _, err = run(*BOTH, "-m", "Q", *options, *mark)
    assert code == 2
    assert "--baseline and --letters need -o latex, markdown or html" in err


def test_the_help_states_the_summary_of_each_command():
    """It is that of the imported commands."""
    for group in QUESTIONS.values():
        for entry, module in group.items():
            name, _, option = entry.partition(" ")
            command = commands.commands[name]
            texts = {param.opts[-1]: param.help for param in command.params if hasattr(param, "help")}
            found = summary(entry, module)
            assert found.endswith("."), entry
            assert ({**texts, "": command.help}[option] + "\n").startswith(found[:-1]), entry


def test_the_help_of_an_option_is_no_more_than_its_sentences():
    """That of a function is the first sentence on its parameter."""
    for name, command in commands.commands.items():
        for one in command.params:
            text = getattr(one, "help", None)
            if text is not None:
                assert re.fullmatch(r"[^{}\n]+[^.{}\n]\.", text), (name, one.name)
                assert not re.search("(Returns|Raises|Warns|Example|Source|Args|Note): ?", text), name
                assert "  " not in text


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], "numpy"),
        (["--version"], "numpy"),
        (["evaluate", "qrels.txt", "poor.run", "-m", "Q nDCG@10", "-q"], "ir_graded.meta.differences"),
    ],
)
@pytest.mark.usefixtures("files")
def test_a_command_imports_only_what_it_uses(arguments, heavy):
    of_numpy = python("import sys, numpy; print(*sys.modules)").split()  # older ones: numpy.random
    others = ["pandas", "polars", "tabulate", "ir_datasets", "importlib.metadata", "numpy.random", "hashlib"]
    names = [heavy, *(name for name in others if name not in of_numpy)]
    output = python(
        f"""
        import sys
        from ir_graded.cli import main
        try:
            main({arguments!r})
        except SystemExit as end:
            print(end.code, [name for name in {names} if name in sys.modules])
        """
    )
    assert output.endswith("\n0 []\n")


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 5])
def test_tables_of_ascii_text_are_those_of_tabulate(rows):
    rng, characters = np.random.default_rng(rows), list("ab 1.-_")
    for _ in range(200):
        labels, width = rng.integers(1, 3), rng.integers(3, 6)
        head, *cells = (
            ["".join(rng.choice(characters, rng.integers(9))) for _ in range(width)] for _ in range(rows + 1)
        )
        align = ["left"] * labels + ["right"] * (width - labels)
        expected = tabulate(cells, head, tablefmt="simple", disable_numparse=True, colalign=align)
        assert in_columns(head, cells, labels) == expected
