"""The values of the package equal the recorded ones, and the recorder notices changes."""

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest

from . import checksums
from .checksums import Checksum
from .command import main
from .recording import Item, Recording, differences

HERE = Path(__file__).parent
#: The parts of the package that the recorder may use, because it must run on versions with other modules.
#: The classics are listed nowhere else.
PUBLIC = {
    "ir_graded",
    "ir_graded.measures.classic",
    "ir_graded.meta",
    "ir_graded.passages",
    "ir_graded.plots",
}


HELP = """To see where: `python tests/recorder record FILE` on the old code, `compare FILE` on the new one.
If the change is intended, `python tests/recorder expect` stores the new values."""


#: Sections that take long.
SLOW = {"passages", "random", "statistics"}


@pytest.mark.parametrize(
    "section",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in checksums.quick_sections()],
)
def test_values_equal_the_recorded_ones(section):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings are not results
        now = checksums.recorded(section)
    changes = list(checksums.changes(now, checksums.expected()[section]))
    assert not changes, "\n".join([f"{len(changes)} results changed", *changes[:20], HELP])


# ----------------------------------------------------------------------------- differences of recordings


def item(values=(0.5, 0.25), labels=("topic 1", "topic 2"), what="Q", **options):
    return Item("random", what, "0017", np.array(values), tuple(labels), **options)


@pytest.fixture
def compare(tmp_path):
    """Compare two recordings, given by their items."""

    def compared(old, new):
        for name, items in (("old", old), ("new", new)):
            with Recording.create(tmp_path / name) as recording:
                recording.note({"quick": "False"})
                for one in items:
                    recording.add(one)
        with Recording(tmp_path / "old") as before, Recording(tmp_path / "new") as after:
            report = differences(before, after, ["random"])
        code = main(["compare", str(tmp_path / "old"), str(tmp_path / "new"), "--limit", "0"])
        return code, list(map(str, report.changed))

    return compared


def test_equal_recordings_do_not_differ(compare):
    assert compare([item(), item(what="AP")], [item(what="AP"), item()]) == (0, [])


def test_a_value_that_is_an_ulp_off_is_named(compare):
    code, changed = compare([item(what="AP"), item()], [item(what="AP"), item([0.5, np.nextafter(0.25, 1)])])
    assert (code, changed) == (1, ["random | Q | 0017 | topic 2: 0.25 -> 0.25000000000000006"])


@pytest.mark.parametrize(
    ("one", "other"),
    [(0.0, -0.0), (np.nan, -np.nan), (1.0, np.nan), (1, 1.0), (True, 1), (1.0, np.float32(1))],
)
def test_other_bits_or_types_are_a_difference(compare, one, other):
    code, changed = compare([item([one], ["1"])], [item([other], ["1"])])
    assert code == 1
    assert changed


def test_nan_equals_nan(compare):
    assert compare([item([np.nan, 1.0])], [item([np.nan, 1.0])]) == (0, [])


def test_a_missing_topic_or_item_is_named(compare):
    code, changed = compare([item(), item(what="AP")], [item([0.5], ["topic 1"])])
    assert code == 1
    assert changed == [
        "random | AP | 0017 | (item): recorded -> missing",
        "random | Q | 0017 | topic 2: 0.25 -> missing",
    ]


def test_another_order_of_topics_is_a_difference(compare):
    code, changed = compare([item()], [item([0.25, 0.5], ["topic 2", "topic 1"])])
    assert (code, changed) == (1, ["random | Q | 0017 | (order): topic 1, topic 2 -> topic 2, topic 1"])


def test_a_new_measure_is_not_a_difference(compare, capsys):
    assert compare([item()], [item(), item(what="new")]) == (0, [])
    assert "new keys (no failure): 1, the first random | new | 0017" in capsys.readouterr().out


def test_messages_are_reported_and_do_not_fail(compare, capsys):
    old, new = (Item("random", "error", "x", [t], loose=True) for t in ("is not numeric", "is not a number"))
    assert compare([old], [new]) == (0, [])
    assert "random | error | x | 0: is not numeric -> is not a number" in capsys.readouterr().out


def test_an_item_cannot_be_recorded_twice(tmp_path):
    with Recording.create(tmp_path / "file") as recording:
        recording.add(item())
        with pytest.raises(ValueError, match="recorded twice"):
            recording.add(item())


# ------------------------------------------------------------------------------------------- checksums


def checksum(values, labels=()):
    return Checksum.of("random", "Q", [Item("random", "Q", "0017", np.array(values), tuple(labels))])


VALUES = np.random.default_rng(0).random(1000)


def test_checksums_tolerate_rounding():
    assert checksum(np.nextafter(VALUES, 2)).equals(checksum(VALUES))


@pytest.mark.parametrize("place", [0, 7, 999])
def test_checksums_notice_one_value(place):
    changed = VALUES.copy()
    changed[place] += 1e-9
    assert not checksum(changed).equals(checksum(VALUES))


def test_checksums_notice_exchanged_values():
    assert not checksum(VALUES[[1, 0, *range(2, 1000)]]).equals(checksum(VALUES))


def test_checksums_notice_labels_and_numbers_that_are_not_finite():
    assert not checksum([1.0, 0.5], ["a", "b"]).equals(checksum([1.0, 0.5], ["a", "c"]))
    assert not checksum([1.0, np.nan]).equals(checksum([1.0, np.inf]))
    assert checksum([1.0, np.nan]).equals(checksum([1.0, np.nan]))


def test_only_checksums_of_changed_results_are_written(tmp_path, monkeypatch):
    path = tmp_path / "expected.jsonl"
    path.touch()
    monkeypatch.setattr(checksums, "EXPECTED", path)
    monkeypatch.setattr(checksums, "quick_sections", lambda: ["random"])

    def written(values):
        monkeypatch.setattr(checksums, "recorded", lambda _: [checksum(values)])
        checksums.write_expected()
        return path.read_text(encoding="utf-8")

    first = written(VALUES)
    assert written(np.nextafter(VALUES, 2)) == first
    assert written(VALUES + 1e-9) != first


@pytest.mark.slow
def test_the_recorder_uses_the_public_interface_alone():
    modules = set()
    for path in HERE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules.add(node.module)
    assert {name for name in modules if name.split(".")[0] == "ir_graded"} <= PUBLIC
