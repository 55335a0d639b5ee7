"""Tables of scores for papers, and scores saved to files."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import ir_graded
from ir_graded import CoverageWarning, FileFormatError, InputError, ParameterError
from ir_graded.evaluation.scores import Scores

TOPICS = 20


def scored(names=("old", "new_a&b", "same|x")):
    rng = np.random.default_rng(0)
    base = rng.random((2, 1, TOPICS)) / 2
    values = np.concatenate((base, base + 0.2 + rng.random((2, 1, TOPICS)) / 10, base + 0.2), axis=1)
    named = ["nDCG(ties='expected')@10", "NCU(stop='rb')"]
    measures = ir_graded.evaluate(named, {"1": {"a": 1}}, {"1": {"a": 1.0}}).measures
    return Scores(tuple(names), measures, tuple(range(TOPICS)), values)


def test_latex_has_booktabs_bold_daggers_and_the_test_in_the_caption():
    text = scored().to_latex(baseline="old", digits=3)
    lines = text.splitlines()
    assert lines[0] == r"\begin{table}"
    assert lines[3:5] == [r"\begin{tabular}{lrr}", r"\toprule"]
    rows = [line.removesuffix(r" \\").split(" & ") for line in lines if line.endswith(r"\\")]
    assert [row[0] for row in rows] == ["run", r"new\_a\&b", r"same\textbar{}x", "old"]
    means = scored().aggregates
    assert rows[1][1] == rf"\textbf{{{means[1, 0]:.3f}}}$^{{{{\dagger}}}}$"
    assert rows[3][1] == rf"{means[0, 0]:.3f}$^{{\phantom{{{{\dagger}}}}}}$"
    assert "two-sided paired randomisation test, step-down max-t for the 2 runs" in lines[2]


def test_markdown_and_html_have_equal_marks():
    markdown, html = scored().to_markdown(baseline="old"), scored().to_html(baseline="old")
    row = markdown.splitlines()[2]
    assert row.startswith(r"| new\_a&b | **")
    assert row.count("†") == row.count("**") // 2 == 2
    assert markdown.splitlines()[3].startswith(r"| same\|x | ")
    assert r"nDCG(ties='expected')\@<!-- -->10" in markdown
    assert html.count("<strong>") == 2
    assert "<th>new_a&amp;b</th>" in html


@pytest.mark.parametrize("baseline", ["bm25.run", "bm25", "runs/bm25.run.gz", "runs/bm25"])
def test_the_baseline_may_be_named_by_its_path_or_without_extension(baseline):
    scores = scored(("bm25.run", "bm25.other.run", "dense.run"))
    for write in (scores.to_latex, scores.to_markdown, scores.to_html):
        assert write(baseline=baseline) == write(baseline="bm25.run")
    with pytest.raises(ParameterError, match=r"baseline='bm' must be one of 'bm25\.run'"):
        scores.to_latex(baseline="bm")


#: Names with characters that TeX or Markdown would change, as they must be written.
NAMES = {
    "#1 closes #2": (r"\#1 closes \#2", r"\#<!-- -->1 closes \#<!-- -->2"),
    "user/repo#1, GH-2": (r"user/repo\#1, GH-2", r"user/repo\#<!-- -->1, GH<!-- -->-2"),
    "@user @org/team": ("@user @org/team", r"\@<!-- -->user \@<!-- -->org/team"),
    "a@b.org c@0123abc": ("a@b.org c@0123abc", "a@<!-- -->b.org c@<!-- -->0123abc"),
    "https://a.org www.a": ("https://a.org www.a", "https<!-- -->://a.org www<!-- -->.a"),
    ":x: !1 %2 &3": (r":x: !1 \%2 \&3", r":<!-- -->x: \!1 \%2 \&3"),
    "Q@10, # a @ b": (r"Q@10, \# a @ b", "Q@10, # a @ b"),
    "[a]": (r"{}[a]", r"\[a\]"),
    "*a*": (r"{}*a*", r"\*a\*"),
    "a[0]": (r"a[0]", r"a\[0\]"),
    "a|b": (r"a\textbar{}b", r"a\|b"),
    "<a>": (r"\textless{}a\textgreater{}", r"\<a\>"),
    "a--b---c": (r"a-{}-b-{}-{}-c", "a--b---c"),
    "?`!`": (r"?{}`!{}`", r"?\`!\`"),
    "``a'',,": (r"`{}`a'{}',{},", r"\`\`a'',,"),
    "a\nb": (r"a\textbackslash{}nb", r"a\\nb"),
    "a\x1bb": (r"a\textbackslash{}x1bb", r"a\\x1bb"),
    "&amp; & ~x~ $y$": (r"\&amp; \& \textasciitilde{}x\textasciitilde{} \$y\$", r"\&amp; & \~x\~ \$y\$"),
    r"{\^%_": (r"\{\textbackslash{}\textasciicircum{}\%\_", r"{\\^%\_"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_with_special_characters_are_escaped(name):
    latex, markdown = NAMES[name]
    values = scored().values[:, :, :9]  # of few topics, all assignments of signs are tried
    scores = Scores((name, "new", "other"), scored().measures, tuple(range(9)), values)
    text = scores.to_latex(baseline=name)
    assert f"\n{latex} & " in text
    assert f"significantly worse than {latex} (two-sided" in text
    text = scores.to_markdown(baseline=name)
    assert f"\n| {markdown} | " in text
    assert f"significantly worse than {markdown} (two-sided" in text
    assert scores.to_html(baseline=name).count("\n") == 6


@pytest.mark.parametrize("intervals", [False, True])
def test_weights_change_means_tests_and_intervals_and_are_in_the_caption(intervals):
    scores = scored()
    weights = {topic: 1 + topic % 4 for topic in range(TOPICS)}
    for write in (scores.to_latex, scores.to_markdown, scores.to_html):
        text = write(weights=weights, intervals=intervals)
        assert "Mean scores over 20 topics. Topics are weighted. Best values in bold." in text
        assert [f"{mean:.4f}" in text for mean in scores.mean(weights).to_numpy().ravel()] == [True] * 6
        assert write(weights=dict.fromkeys(weights, 1)).partition("Mean")[0] == write().partition("Mean")[0]
    found = ir_graded.meta.confidence_intervals(scores, weights=weights)
    assert scores.to_html(weights=weights, intervals=found) == scores.to_html(weights=weights, intervals=True)
    with pytest.raises(InputError, match="with the weights of the table"):
        scores.to_html(intervals=found)
    tests = ir_graded.meta.differences(scores, "old", weights=weights)
    assert scores.to_html(weights=weights, baseline="old").count("<sup>†</sup><") == tests.significant.sum()


def test_a_test_that_cannot_succeed_has_no_caption():
    values = scored().values[:, :, :4]
    scores = Scores(("old", "new", "same"), scored().measures, (1, 2, 3, 4), values)
    for write in (scores.to_latex, scores.to_markdown, scores.to_html):
        with pytest.warns(CoverageWarning, match=r"cannot find a difference on 4 topics \(p >= 0\.125\)"):
            text = write(baseline="old")
        assert text == write()
        assert "randomisation" in write(baseline="old", alpha=0.3)
    with pytest.raises(ParameterError, match="no corrected p can fall below 1e-05"):
        scored().to_latex(baseline="old", alpha=5e-6)


def test_letters_name_the_runs_that_are_significantly_worse():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.05, (2, 4, TOPICS))
    values = noise + np.array([[0.5, 0.2, 0.35, 0.21], [0.3, 0.3, 0.3, 0.6]])[:, :, np.newaxis]
    scores = Scores(("best", "worst", "second", "third"), scored().measures, tuple(range(TOPICS)), values)
    text = scores.to_latex(letters=True, digits=2)
    rows = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if line.endswith(r"\\")][1:]
    assert [row[0] for row in rows] == ["(a) best", "(b) second", "(c) third", "(d) worst"]
    assert [row[1].partition("$")[2] for row in rows] == [
        "^{bcd}$",
        r"^{cd\phantom{d}}$",
        r"^{\phantom{bcd}}$",
        r"^{\phantom{bcd}}$",
    ]
    assert "^{abd}" in rows[2][2]
    assert "Raised letters: significantly better than these runs (two-sided paired randomisation test" in text
    for number, name in enumerate(scores.names):
        found = ir_graded.meta.differences({name: scores.matrix(name)})
        letters = "".join(row[1 + number].partition("phantom")[0].partition("^{")[2] for row in rows)
        assert len([sign for sign in letters if sign in "abcd"]) == found.significant.sum()


def test_captions_leave_out_notes_on_verdicts_which_tables_do_not_show():
    rng = np.random.default_rng(0)
    a = np.full(12, 0.5)
    runs = np.stack([a, a - 3 * rng.exponential(0.1, 12) ** 2, 0.3 + rng.normal(0, 0.1, 12)])
    scores = Scores(("a", "b", "c"), scored().measures[:1], tuple(range(12)), runs[np.newaxis])
    found = ir_graded.meta.differences(scores)
    assert ["although Student's interval ends" in note for note in found.notes] == [True]
    assert found.verdict[0] == "not worse"
    assert not found.significant[0]
    assert "although" not in scores.to_latex(letters=True)


def test_letters_of_a_test_that_cannot_succeed_are_left_out():
    for runs, topics, least in ((2, 5, r"0\.0625"), (3, 2, r"0\.5")):
        values = scored().values[:, :runs, :topics]
        scores = Scores(scored().runs[:runs], scored().measures, tuple(range(topics)), values)
        for write in (scores.to_latex, scores.to_html):
            message = rf"randomisation test cannot .* on {topics} topics \(p >= {least}\)"
            with pytest.warns(CoverageWarning, match=message):
                text = write(letters=True)
            assert text == write()
            assert "randomisation" in write(letters=True, alpha=0.6)


def test_letters_require_an_alpha_that_the_replicates_can_show():
    message = (
        r"^n_resamples=10000: with 3 tests and correction='max-t' no corrected p can fall below 0\.0001, and "
        r"alpha is 1e-05: use n_resamples=100000$"
    )
    with pytest.raises(ParameterError, match=message):
        scored().to_markdown(letters=True, alpha=1e-5)
    with pytest.raises(ParameterError, match="n_resamples=10000: with 3 tests"):
        scored().to_markdown(letters=True, alpha=0.99e-4)
    assert "alpha = 0.0001" in scored().to_markdown(letters=True, alpha=1e-4)


def test_letters_and_daggers_go_together():
    text = scored().to_latex(baseline="old", letters=True)
    assert r"$^{{\dagger}bc}$" in text
    assert r"(c) old" in text
    assert r"(a) new\_a\&b" in text
    assert "<sup>†bc</sup>" in scored().to_html(baseline="old", letters=True)
    assert "**<sup>bc</sup>" in scored().to_markdown(letters=True)


@pytest.mark.slow
def test_letters_of_many_runs_are_separated():
    rng = np.random.default_rng(3)
    levels = np.linspace(0.9, 0.1, 28)[np.newaxis, :, np.newaxis]
    names = tuple(f"r{at:02}" for at in range(28))
    values = levels + rng.random((1, 28, TOPICS)) / 9
    scores = Scores(names, scored().measures[:1], tuple(range(TOPICS)), values)
    for write in (scores.to_markdown, scores.to_html, scores.to_latex):
        text = write(letters=True)
        assert text.index("(y) ") < text.index("(z) ") < text.index("(aa) ") < text.index("(ab) ")
    found = ir_graded.meta.differences(scores)
    worse = {str(run): {*np.array(found.baseline)[np.array(found.run) == run]} for run in names}
    rows = [line.split(" | ") for line in scores.to_markdown(letters=True).splitlines()[2:30]]
    of_letter = {row[0].partition(")")[0][3:]: row[0].rpartition(" ")[2] for row in rows}
    significant = {(a, b) for a, b, s in zip(found.run, found.baseline, found.significant, strict=True) if s}
    for row in rows:
        signs = row[1].partition("<sup>")[2].partition("</sup>")[0]
        beaten = {of_letter[sign] for sign in signs.split(",") if sign}
        run = row[0].rpartition(" ")[2]
        assert beaten == {other for one, other in significant if one == run} <= worse[run]
    assert rows[0][1].endswith(",z,aa,ab</sup> |")


def test_better_and_worse_runs_have_different_signs():
    rng = np.random.default_rng(4)
    values = np.array([0.5, 0.9, 0.1, 0.5])[np.newaxis, :, np.newaxis] + rng.random((1, 4, TOPICS)) / 10
    scores = Scores(("old", "up", "down", "same"), scored().measures[:1], tuple(range(TOPICS)), values)
    rows = {line.split(" | ")[0][2:]: line for line in scores.to_markdown(baseline="old").splitlines()[2:6]}
    assert {run: [sign for sign in "†‡" if sign in row] for run, row in rows.items()} == {
        "up": ["†"],
        "same": [],
        "old": [],
        "down": ["‡"],
    }
    latex = scores.to_latex(baseline="old")
    assert r"$^{{\ddagger}}$ \\" in latex
    assert r"$^{{\dagger}}$: significantly better, $^{{\ddagger}}$: significantly worse than old (" in latex
    assert "<sup>‡</sup></td>" in scores.to_html(baseline="old")


def test_captions_labels_names_and_rules_are_chosen():
    options = {"caption": "Runs.", "names": {"old": "$O$", "nDCG(ties='expected')@10": r"\textsc{n}"}}
    text = scored().to_latex(**options, label="tab:runs", booktabs=False)
    assert "\\caption{Runs. Best values in bold. \\textsc{n}: cutoff 10, mean over all" in text
    assert "; all measures: gains = levels.}\n\\label{tab:runs}\n" in text
    assert r"run & \textsc{n} & NCU" in text
    assert "\n$O$ & " in text
    assert text.count(r"\hline") == 3
    assert "rule" not in text
    for write in (scored().to_markdown, scored().to_html):
        text = write(**options)
        assert "Runs. Best values" in text
        assert "$O$" in text
        assert "nDCG" not in text
        assert "label" not in text
    assert "worse than $O$ (" in scored().to_markdown(baseline="old", **options)
    measure = scored().measures[0]
    assert "| run | n | NCU" in scored().to_markdown(names={measure: "n"})


def test_digits_are_chosen_by_measure():
    means = scored().aggregates[0]
    row = scored().to_markdown(digits={scored().measures[1]: 2}).splitlines()[-3]
    assert row == f"| old | {means[0]:.4f} | {means[1]:.2f} |"
    assert f"| old | {float(means[0])!r} | " in scored().to_markdown(digits=-1)
    with pytest.raises(InputError, match="Q was not evaluated"):
        scored().to_markdown(digits={"Q": 2})
    with pytest.raises(ParameterError, match=r"^digits=\{.*\} must be whole numbers from 0 to 17, or -1"):
        scored().to_markdown(digits={scored().measures[1]: 2.0})


def test_intervals_are_those_of_confidence_intervals():
    scores = scored()
    options = {"method": "bootstrap", "n_resamples": 2000, "rng": 1}
    found = ir_graded.meta.confidence_intervals(scores, confidence=0.9, **options)
    text = scores.to_latex(intervals=found, baseline="old", digits=3)
    for measure in range(2):
        for run in range(3):
            assert f"[{found.low[measure, run]:.3f}, {found.high[measure, run]:.3f}]" in text
    assert rf"\phantom{{{{\dagger}}}}}}$ [{found.low[0, 0]:.3f}, " in text
    assert r"Brackets: 90\% confidence intervals (bootstrap of the topics, 2,000 replicates). nDCG" in text
    default = scores.to_markdown(intervals=True)
    assert default == scores.to_markdown(intervals=ir_graded.meta.confidence_intervals(scores))
    assert "95% confidence intervals (Student)." in default
    for wrong in (scores.select(runs=["same|x", "old", "new_a&b"]), scores.select(topics=range(19))):
        with pytest.raises(InputError, match="runs, measures or means differ"):
            wrong.to_latex(intervals=found)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path):
    table = scored(("a_b & c%", r"[x~y^z\w", "*#{h}$1 <é>|?`--")).to_latex(
        baseline="a_b & c%", letters=True, intervals=True
    )
    packages = r"\documentclass{article}\usepackage{booktabs}\usepackage[T1]{fontenc}\begin{document}"
    (tmp_path / "t.tex").write_text(f"{packages}\n{table}\n\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout.decode(errors="replace")
    assert (tmp_path / "t.pdf").read_bytes()[:4] == b"%PDF"


def test_without_a_baseline_nothing_is_marked():
    text = scored().to_latex()
    assert "dagger" not in text
    assert "Mean scores over 20 topics. Best values in bold. nDCG" in text


def test_values_with_equal_digits_are_both_bold():
    scores = Scores(("a", "b"), scored().measures, (1,), np.array([[[0.30001], [0.30002]], [[0.1], [0.2]]]))
    assert scores.to_markdown(digits=2).count("**0.30**") == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"digits": digits}, "^digits=") for digits in (-2, 18, 2.0, True)),
        ({"baseline": "none"}, "baseline"),
        ({"intervals": 0.95}, r"^intervals=0\.95 must be True, False or a result of"),
        ({"label": "50%"}, "label='50%' has '%', which LaTeX does not take in labels"),
        ({"names": {"olt": "x"}}, r"^names: 'olt' is neither a run nor .* scores; did you mean 'old'\?$"),
    ],
)
def test_wrong_options_are_rejected(options, message):
    with pytest.raises(ParameterError, match=message):
        scored().to_latex(**options)


def test_json_reads_back_to_the_last_bit():
    scores = scored()
    back = Scores.from_json(scores.to_json())
    assert (back.runs, back.measures, back.query_ids) == (scores.runs, scores.measures, scores.query_ids)
    assert back.values.tobytes() == scores.values.tobytes()
    content = json.loads(scores.to_json())
    assert content["measures"] == scores.names
    assert content["written_by"]["ir_graded"] == ir_graded.__version__


def test_json_keeps_missing_values_and_empty_scores():
    one = Scores(("a",), scored().measures, ("t",), np.array([[[np.nan]], [[1.0]]]))
    assert np.isnan(Scores.from_json(one.to_json()).values[0, 0, 0])
    none = Scores((), scored().measures, (), np.zeros((2, 0, 0)))
    assert Scores.from_json(none.to_json()).values.shape == (2, 0, 0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "ir_graded scores", "version": 2}', b"\xff"])
def test_other_json_is_rejected(text):
    with pytest.raises(FileFormatError, match=r"^expected JSON of ir_graded scores, version 1"):
        Scores.from_json(text)


def test_json_of_wrong_shape_is_rejected():
    content = json.loads(scored().to_json())
    content["runs"].pop()
    with pytest.raises(FileFormatError, match=r"values have shape \(2, 3, 20\), expected \(2, 2, 20\)"):
        Scores.from_json(json.dumps(content))


def test_topics_that_json_cannot_hold_are_rejected():
    with pytest.raises(InputError, match="text or whole numbers"):
        Scores(("a",), scored().measures, (1.5,), np.zeros((2, 1, 1))).to_json()


def test_parquet_holds_the_frame(tmp_path):
    scores = scored()
    scores.to_parquet(tmp_path / "s.parquet")
    back = pd.read_parquet(tmp_path / "s.parquet")
    assert back.to_dict("list") == scores.to_frame().astype({"query_id": str}).to_dict("list")


def test_a_caption_ends_before_other_sentences():
    assert "\\caption{Runs. Best values in bold. " in scored().to_latex(caption="Runs")
