"""``ir_graded trec_eval``: the lines of trec_eval 10, its names, options and errors."""

import lzma
import random
import subprocess
import sys

import numpy as np
import pytest
from collections_data import ROOT, needs_shared_data
from helpers import assert_command_fails, run_command
from packed import gzipped
from reference import trec_eval as reference

from ir_graded.analyses.trec_eval import GROUPS, MEASURES, Options, measures_of, ranked_lists

QRELS = "1 0 a 3\n1 0 b 1\n1 0 c 2\n1 0 u 2\n1 0 n 0\n1 0 m -1\n"
RUN = "".join(f"1 Q0 {doc} 1 {9 - at} r\n" for at, doc in enumerate("bxancm"))
QRELS_2, RUN_2 = QRELS + "2 0 z 0\n2 0 y 1\n", RUN + "2 Q0 y 1 1 r\n"


@pytest.fixture
def command(capsys, tmp_path, monkeypatch):
    """Run the command on the text of qrels and runs; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(qrels, *runs, options=()):
        (tmp_path / "qrels").write_text(qrels, encoding="utf-8")
        for number, text in enumerate(runs):
            (tmp_path / f"run{number}").write_text(text, encoding="utf-8")
        files = (f"run{number}" for number in range(len(runs)))
        return run_command(capsys, "trec_eval", *options, "qrels", *files)

    return run


def lines_of(result):
    code, out, _ = result
    assert code == 0
    return out.splitlines()


def printed(result):
    """Return the values over all topics by name."""
    rows = (line.split("\t") for line in lines_of(result))
    return {name.strip(): value for name, topic, value in rows if topic == "all"}


def scores(tmp_path, names, qrels=QRELS, run=RUN, **options):
    """Return the value of each name over all topics, with all digits."""
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text(run)
    (lists,) = ranked_lists(str(tmp_path / "qrels"), [str(tmp_path / "run")], Options(**options))
    return {one.name: one.overall(lists, one.of_topics(lists)) for one in measures_of(names) if one.overall}


WORKED = {
    "iprec_at_recall_0.30": 1,
    "iprec_at_recall_0.80": 0.6,
    "Rprec_mult_1.60": 0.428571428571,
    "11pt_avg": 0.654545454545,
    "binG": 0.532732438393,
    "G": 0.331672848796,
    "ndcg_1=2,3=7": 0.619734648271,
    "ndcg_rel": 0.489656322197,
    "Rndcg": 0.455677371269,
    "yaap": 0.178248231406,
    "rbp": 0.158073333333,
    "rbp_resid": 0.68049,
}


def test_worked_example(tmp_path):
    found = scores(tmp_path, ["all_trec", "ndcg.1=2,3=7", "yaap"])
    assert {name: found[name] for name in WORKED} == pytest.approx(WORKED, abs=1e-11)
    found = scores(tmp_path, ["gm_map", "gm_bpref"], QRELS_2, RUN_2)
    assert found == pytest.approx({"gm_map": 0.752772652709, "gm_bpref": 0.707106781187}, abs=1e-11)


def test_gains_are_compared_as_fractions(tmp_path):
    found = scores(tmp_path, ["ndcg.1=0.4,2=0.9"], "1 0 a 1\n1 0 b 2\n", "1 Q0 a 1 1 r\n")
    assert found == pytest.approx({"ndcg_1=0.4,2=0.9": 0.347110164266}, abs=1e-11)


def test_a_list_without_judged_documents_scores_0(tmp_path):
    names = ["iprec_at_recall.0,1", "11pt_avg"]
    found = scores(tmp_path, names, "1 0 a 1\n", "1 Q0 x 1 1 r\n", judged_only=True)
    assert found == {"iprec_at_recall_0.00": 0, "iprec_at_recall_1.00": 0, "11pt_avg": 0}


def test_topics_are_those_of_both_files(command):
    result = command(QRELS_2, RUN + "3 Q0 a 1 1 r\n", options=["-q", "-m", "num_q", "-m", "map"])
    assert [line.split("\t")[1:] for line in lines_of(result)] == [
        ["1", "0.5667"],
        ["all", "1"],
        ["all", "0.5667"],
    ]
    assert result[2] == "ir_graded: warning: run0 lacks 1 of 2 topics: '2'; they count only with -c\n"


def test_option_c_counts_all_topics_of_the_qrels(command):
    names = ["num_q", "num_ret", "num_rel", "map", "unj.3", "utility", "relstring"]
    options = ["-q", "-c", "-l", "2", *(part for name in names for part in ("-m", name))]
    result = command(QRELS_2, RUN, options=options)
    found = [line.split("\t")[1:] for line in lines_of(result) if "\t1\t" not in line]
    # Over all topics, num_rel counts levels above 0.
    of_topic_2 = ["0", "0", "0.0000", "''", "0.0000", "0.0000"]
    assert found == [
        *(["2", value] for value in of_topic_2),
        *(["all", value] for value in ("2", "6", "5", "0.1222", "-1.0000", "0.1667")),
    ]
    assert result[2] == ""


def test_parameters_change_the_name_and_the_value_of_an_absent_topic(command):
    names = ["-m", "utility.1,-1,0,0", "-m", "relstring.3", "-m", "rbp_resid.p=0.9"]
    found = lines_of(command(QRELS_2, RUN, options=["-q", "-c", "-n", *names]))
    assert found[3:] == [
        "relstring_3           \t2\t'-'",
        "utility_1,-1,0,0      \t2\t-1.0000",
        "rbp_resid_p=0.9       \t2\t1.0000",
    ]


def test_documents_are_ranked_in_double_precision(command):
    found = printed(command("1 0 a 1\n1 0 b 0\n", "1 Q0 b 1 1.0 r\n1 Q0 a 2 1.00000001 r\n"))
    assert found["recip_rank"] == "1.0000"


def test_ties_are_broken_by_id_descending_in_bytes(command):
    qrels, run = "1 0 é 1\n1 0 z 2\n1 0 Z 3\n", "".join(f"1 Q0 {doc} 1 1 r\n" for doc in "Zéz")
    found = lines_of(command(qrels, run, options=["-q", "-n", "-m", "relstring"]))
    assert found == ["relstring             \t1\t'123'"]


def test_topics_are_in_bytewise_order(command):
    names = ["é", "9", "10", "a", "Z"]
    qrels = "".join(f"{name} 0 a 1\n" for name in names)
    run = "".join(f"{name} Q0 a 1 1 r\n" for name in names)
    found = lines_of(command(qrels, run, options=["-q", "-n", "-m", "map"]))
    assert [line.split("\t")[1] for line in found] == ["10", "9", "Z", "a", "é"]


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("# a comment\n" + QRELS, RUN.replace("1 Q0 n", "#1 Q0 q 9 9 r\n  # another\n\n1 Q0 n")),
        (QRELS.replace(" ", "\t"), RUN.replace(" ", " \t ").replace("\n", "\r\n")),
        ("\n" + QRELS + "\n\n", RUN.replace("r\n", "r and more text\n").rstrip()),
        (QRELS + "# a comment at the end", RUN + "# other tag\n"),
    ],
)
def test_comments_blank_lines_and_further_fields_are_skipped(command, qrels, run):
    assert lines_of(command(qrels, run)) == reference.lines(QRELS, RUN)


def test_white_space_separates_fields_between_tabs(command):
    found = command("a b\t0\td\t1\n", "1 Q0 d 1 1 r\n")
    assert_command_fails(found, "qrels, line 1: expected 4 fields", "found 5")


def test_several_runs_print_one_block_each(command):
    other = "1 Q0 x 1 1 other\n"
    assert lines_of(command(QRELS, RUN, other)) == reference.lines(QRELS, RUN) + reference.lines(QRELS, other)


def test_compressed_files(tmp_path, capsys):
    (tmp_path / "qrels.gz").write_bytes(gzipped(QRELS.encode()))
    (tmp_path / "run.xz").write_bytes(lzma.compress(RUN.encode()))
    result = run_command(capsys, "trec_eval", tmp_path / "qrels.gz", tmp_path / "run.xz")
    assert lines_of(result) == reference.lines(QRELS, RUN)


@pytest.mark.slow
def test_standard_input(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    arguments = [sys.executable, "-m", "ir_graded", "trec_eval", str(tmp_path / "qrels"), "-"]
    done = subprocess.run(arguments, input=RUN, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.splitlines() == reference.lines(QRELS, RUN)


def test_without_summary_and_topics_nothing_is_printed(command):
    assert command(QRELS, RUN, options=["-n"]) == (0, "", "")


def test_first_parameters_of_a_name_count(command):
    found = printed(command(QRELS, RUN, options=["-m", "official", "-m", "P.7,3", "-m", "P.9"]))
    assert {"P_3", "P_7"} <= set(found)
    assert not {"P_5", "P_9"} & set(found)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        *(
            ("P.1e3", "P_1"),
            ("success.2e1", "success_2"),
            ("map_cut.3e5", "map_cut_3"),
            ("unj.1e-1", "unj_1"),
        ),
        *(("P.2.9", "P_2"), ("P. +007", "P_7"), ("P.9007199254740993", "P_9007199254740993")),
        ("P.99999999999999999999", "P_9223372036854775807"),
        ("iprec_at_recall.1e-1", "iprec_at_recall_0.10"),
    ],
)
def test_ranks_are_read_as_trec_eval_reads_them(command, given, name):
    assert [*printed(command(QRELS, RUN, options=["-m", given]))] == [name]


def test_sets_of_names():
    assert [one.name for one in MEASURES] == reference.ORDER
    assert {n: sorted(of) for n, of in GROUPS.items()} == {n: sorted(of) for n, of in reference.SETS.items()}


# -------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ndgc", ["trec_eval has no measure 'ndgc'", "did you mean 'ndcg'"]),
        ("prefs_simp", ["trec_eval has no measure 'prefs_simp'"]),
        ("P.", ["trec_eval has no measure 'P.'; did you mean 'P'"]),
        ("official.5", ["runid: cannot read the parameters '5'; expected none"]),
        ("map.5", ["map: cannot read the parameters '5'; expected none"]),
        ("P.5,x", ["P: cannot read the parameters '5,x'; expected 5,10,15"]),
        ("P.0,5", ["P: cannot read"]),
        ("P.5,5", ["P: cannot read"]),
        ("P.1e400", ["P: cannot read"]),
        ("P.1e3,1", ["P: cannot read"]),
        ("P..5", ["P: cannot read"]),
        ("iprec_at_recall.-1", ["iprec_at_recall: cannot read"]),
        ("utility.1,2", ["utility: cannot read the parameters '1,2'; expected 1,-1,0,0"]),
        ("set_F.nan", ["set_F: cannot read"]),
        ("ndcg.1", ["ndcg: cannot read the parameters '1'; expected 1=3.5,2=9"]),
        ("ndcg.1=2,1=3", ["ndcg: cannot read"]),
        ("ndcg.-1=2", ["ndcg: cannot read"]),
        ("ndcg.1_0=2", ["ndcg: cannot read"]),
        ("ndcg. 1=2", ["ndcg: cannot read"]),
        ("ndcg.1.5=2", ["ndcg: cannot read"]),
        ("ndcg.p=0.5", ["ndcg: cannot read"]),
        ("rbp.q=0.5", ["rbp: cannot read"]),
    ],
)
def test_unknown_names_and_parameters_are_rejected(command, name, parts):
    assert_command_fails(command(QRELS, RUN, options=["-m", name]), *parts)


@pytest.mark.parametrize(
    ("qrels", "run", "parts"),
    [
        (QRELS + "1 0 d\n", RUN, ["qrels, line 7: expected 4 fields"]),
        ("# comment\n" + QRELS + "1 0 d high\n", RUN, ["qrels, line 8: level 'high'"]),
        (QRELS + "1 0 d 0.5\n", RUN, ["qrels, line 7", "the level must be whole"]),
        (QRELS + "1 1 n 0\n", RUN, ["topic '1', document 'n' (qrels, line 7): the document appears twice"]),
        (QRELS, RUN + "# comment\n\n1 Q0 d 1 2\n", ["run0, line 9: expected 6 fields"]),
        (QRELS, RUN + "1 Q0 d 1 high r more\n", ["run0, line 7: score 'high'"]),
        (QRELS, RUN + "1 Q0 d 1 nan r\n", ["run0, line 7", "missing or NaN"]),
        (QRELS, RUN + "1 Q0 b 1 1 r\n", ["document 'b' appears twice", "run0, line 1", "run0, line 7"]),
        (QRELS, "9 Q0 b 1 1 r\n", ["run0 and qrels share no topic"]),
        (QRELS, "", ["run0 and qrels share no topic"]),
        ("", RUN, ["run0 and qrels share no topic"]),
    ],
)
def test_wrong_input_is_rejected_with_its_place(command, qrels, run, parts):
    assert_command_fails(command(qrels, run), *parts)


def test_an_error_in_a_later_run_prints_nothing(command):
    assert_command_fails(command(QRELS, RUN, "9 Q0 b 1 1 r\n", options=["-c"]), "run1 and qrels share")


def test_a_missing_file_is_an_error(command):
    assert_command_fails(command(QRELS, RUN, options=["none"]), "none: No such file or directory")


# ---------------------------------------------------------------------------------- plain reference

PARAMETERS = [
    *("P.3,1,7", "recall.4,50", "ndcg_cut.3,23.4", "map_cut.1,6", "relative_P.2,9", "success.1,2", "unj.3,4"),
    *("relstring.3", "relstring.30", "set_F.0.5", "utility.2,-1,0.5,0.25", "11pt_avg.0,.25,.5,1"),
    *("iprec_at_recall.1,0,.33", "Rprec_mult.0.2,0.7,3", "G.0=2,1=4", "G.1=0.3,2=0.35", "ndcg.1=-2,2=3"),
    *("dcg.1=2", "ideal_dcg.3=0", "ndcg_rel.1=0.5,3=7", "Rndcg.2=9,4=9", "Rndcg.0=1,1=4", "rbp.p=0.8"),
    *("rbp.1=0.5,2=1", "rbp.1=3,3=1,p=0.5", "rbp.0=-1,1=2", "rbp_resid.p=0.8", "yaap", "dcg", "ideal_dcg"),
    *("set", "official", "gm_bpref", "Rndcg", "num_rel"),
]


def random_input(rng):
    """Return qrels, a run and options."""
    docs = [f"d{number}" for number in range(30)] + ["é", "D"]
    topics = rng.sample(["1", "2", "10", "a", "é"], rng.randint(1, 5))
    lowest, highest = rng.choice([0, 0, -2]), rng.choice([1, 2, 4, 12])
    qrels, run = [], []
    for topic in topics:
        top = rng.choice([highest, highest, highest, 0, -1 if lowest else 0])
        judged = rng.sample(docs, rng.randint(1, len(docs)))
        qrels += [f"{topic} 0 {doc} {rng.randint(lowest, top)}" for doc in judged]
    for topic in [*rng.sample(topics, rng.randint(1, len(topics))), "other"]:
        for doc in rng.sample([*docs, "x", "y", "z"], rng.randint(1, len(docs))):
            score = rng.choice([rng.randint(0, 5), rng.gauss(0, 1), 1 + rng.randint(0, 3) * 1e-9])
            run.append(f"{topic} Q0 {doc} 0 {score!r} {rng.choice(['r', 's'])}")
    for rows in (qrels, run):
        if rng.random() < 0.5:
            rng.shuffle(rows)
    names = rng.sample(PARAMETERS, rng.randint(0, 6)) + ["all_trec"] * rng.randint(0, 1)
    given = {flag: True for flag in "qcJ" if rng.random() < 0.5}
    choices = {"l": [0, 1, 2, 3], "M": [0, 1, 3, 10, 100], "N": [0, 1000], "n": [True]}
    given |= {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.3}
    return "\n".join(qrels) + "\n", "\n".join(run) + "\n", names, given


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.release) for seed in range(2, 10))]
)
def test_lines_equal_those_of_the_plain_reference(command, seed):
    rng = random.Random(seed)  # noqa: S311
    for _ in range(35):
        qrels, run, names, given = random_input(rng)
        options = [f"-{name}" + ("" if value is True else str(value)) for name, value in given.items()]
        options += [part for name in names for part in ("-m", name)]
        expected = reference.lines(qrels, run, names, **given)
        assert lines_of(command(qrels, run, options=options)) == expected, (qrels, run, options)


def test_values_are_added_in_sequence(tmp_path):
    """The mean of 1 and 49 values of 2^-54 is rounded at each step."""
    qrels = "".join(f"{topic:02} 0 a 1\n" for topic in range(50))
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text("".join(f"{topic:02} Q0 a 1 1 r\n" for topic in range(50)))
    (lists,) = ranked_lists(str(tmp_path / "qrels"), [str(tmp_path / "run")], Options())
    (mean,) = measures_of(["map"])
    assert mean.overall(lists, np.array([1.0, *[2.0**-54] * 49])) == 1 / 50


# ------------------------------------------------------------------------------------ TREC's own tests

ALL = ["-m", "all_trec"]
QUICK = {
    "out.test": ([], "qrels.test", "results.test"),
    "comments": ([], "qrels.test.with-comments", "results.test"),
    "out.comment.test": ([], "qrels.comment.test", "results.comment.test"),
    "out.test.a": (ALL, "qrels.test", "results.test"),
    "out.test.aq": ([*ALL, "-q"], "qrels.test", "results.test"),
    "out.test.aqc": ([*ALL, "-q", "-c"], "qrels.test", "results.trunc"),
    "out.test.aqcM": ([*ALL, "-q", "-c", "-M100"], "qrels.test", "results.trunc"),
    "out.test.aql": ([*ALL, "-mrelstring.20", "-q", "-l2"], "qrels.rel_level", "results.test"),
    "out.test.meas_params": (
        [
            *("-q", "-miprec_at_recall..10,.20,.25,.75,.50", "-m", "P.5,7,3", "-m", "recall.20,2000"),
            *("-m", "Rprec_mult.5.0,0.2,0.35", "-mutility.2,-1,0,0", "-m", "11pt_avg..25,.5,.75"),
            *("-mndcg.1=3,2=9,4=4.5", "-mndcg_cut.10,20,23.4", "-msuccess.2,5,20"),
        ],
        "qrels.test",
        "results.test",
    ),
}


@needs_shared_data
@pytest.mark.parametrize("expected", QUICK)
def test_quick_tests_of_trec_eval_are_equal_in_every_byte(capsys, expected):
    options, *files = QUICK[expected]
    folder = ROOT / "trec_eval"
    code, out, err = run_command(capsys, "trec_eval", *options, *(folder / f"{name}.xz" for name in files))
    name = "out.test" if expected == "comments" else expected
    assert (code, err) == (0, "")
    assert out == lzma.decompress((folder / f"{name}.xz").read_bytes()).decode()
