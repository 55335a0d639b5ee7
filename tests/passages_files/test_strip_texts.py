"""Texts of a strip: the title shortens long ids in the middle, and errors show at most three ids."""

import re

import pandas as pd
import pytest

from ir_graded.errors import InputError
from ir_graded.passages import Strip, show

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"


def titled(doc_id):
    strip = Strip("7", doc_id, 3, ((0, 9),), ((5, 9),), ((5, 9),), 9, P=1.0, R=4 / 9, F=8 / 13)
    title = strip.plot().axes[0].get_title()
    first, second = re.findall("<text[^>]*>([^<]*)</text>", strip._repr_html_())[:2]
    assert title == f"{first}\n{second}"
    assert str(strip).startswith(f"topic 7, article {doc_id}, rank 3: P 1.0000")
    return title


@pytest.mark.parametrize("length", [1, 31, 32])
def test_an_id_of_up_to_32_characters_is_whole_in_the_title(length):
    pytest.importorskip("matplotlib")
    assert (
        titled(LETTERS[:length]) == f"topic 7, article {LETTERS[:length]}, rank 3\nP 1.000, R 0.444, F 0.615"
    )


def test_a_longer_id_is_shortened_in_the_middle():
    pytest.importorskip("matplotlib")
    assert titled(LETTERS).startswith("topic 7, article abcdefghijklmno…uvwxyzABCDEFGHIJ, rank 3\n")


@pytest.mark.parametrize(("count", "expected"), [(3, "'a', 'b', 'c'$"), (4, r"'a', 'b', 'c' \.\.\.$")])
def test_an_error_shows_three_ids_at_most(count, expected):
    rows = {"query_id": "1", "doc_id": list(LETTERS[:count]), "start": 0, "length": 5}
    qrels, run = pd.DataFrame({**rows, "relevance": 1}), pd.DataFrame({**rows, "score": 1.0})
    with pytest.raises(InputError, match=rf"topic '1' has no article 'z'; qrels and run have {expected}"):
        show(qrels, run, "1", "z")


@pytest.mark.slow
def test_identical_articles_score_no_more_than_1():
    """Without the bound, rounding would raise F above 1."""
    rows = {"query_id": "1", "doc_id": ["a"], "start": 0, "length": 3}
    qrels, run = pd.DataFrame({**rows, "relevance": 1}), pd.DataFrame({**rows, "score": 1.0})
    assert max(show(qrels, run, "1", "a", beta=beta / 100).F for beta in range(1, 400, 3)) == 1
