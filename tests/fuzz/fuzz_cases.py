"""What every fuzz test shares: how many inputs are drawn, which errors are right, and how bytes are spoilt.

``IR_GRADED_FUZZ=100 python -m pytest tests/fuzz`` draws a hundred times as many inputs, others each time;
without it they are few and always the same. The number of calls stands at the end, and
``IR_GRADED_PAGE=docs/trust`` writes it for the page there.
"""

from __future__ import annotations

import os
import re
from collections import Counter

from hypothesis import HealthCheck, settings, strategies as st

from ir_graded.errors import GradedError

#: How many times as many inputs are drawn as in the normal suite.
EFFORT = int(os.environ.get("IR_GRADED_FUZZ", "1"))
#: Calls by target.
COUNTS = Counter()
#: Characters that a message may have: it shows ids, of which the longest drawn has ten thousand.
LONGEST = 25_000


#: How errors begin that ir-measures raises for strings that name no measure or one that nobody computes.
_UPSTREAM = (
    "problem parsing measure",
    "measure not found",
    "Unsupported measures",
    "unsupported measure",
    "known trec name",
    "unkonwn measure",
)


def fuzz(examples):
    """A decorator: so many inputs, times the effort."""
    return settings(
        max_examples=examples * EFFORT,
        derandomize=EFFORT == 1,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def error_or_none(target, call, *arguments, place, also=(), **options):
    """The message of the error that an input raises, None if it raises none.

    The message of an error of this package must match ``place``, which says where it arose. Otherwise the
    documentation promises some errors of ir-measures, and those ``also`` given. Any other error is raised.
    """
    COUNTS[target] += 1
    try:
        call(*arguments, **options)
    except GradedError as error:
        message = str(error)
        assert re.search(place, message), message
        assert len(message) < LONGEST, message
        return message
    except also as error:
        return str(error)
    except (ValueError, NameError) as error:
        if type(error) in (ValueError, NameError) and (
            str(error).startswith(_UPSTREAM) or "use parse_trec_measure instead" in str(error)
        ):
            return str(error)
        raise
    return None


def accepted(target, call, *arguments, **options):
    """What a call gives for an input in which nothing is wrong: whatever it raises is a failure."""
    COUNTS[target] += 1
    return call(*arguments, **options)


def spoilt(whole, tokens):
    """Bytes with some of them replaced, taken out, doubled or cut off, and tokens put between."""
    changes = st.lists(
        st.tuples(
            st.sampled_from(["replace", "insert", "delete", "double", "cut"]),
            st.integers(0, 1 << 16),
            st.one_of(st.sampled_from(tokens), st.binary(max_size=4)),
        ),
        max_size=6,
    )
    return st.tuples(whole, changes).map(lambda drawn: _spoil(*drawn))


def _spoil(data, changes):
    for how, place, token in changes:
        at = place % (len(data) + 1)
        behind = {
            "replace": token + data[at + len(token) :],
            "insert": token + data[at:],
            "delete": data[at + 1 + len(token) :],
            "double": data[max(0, at - 9) :],
            "cut": b"",
        }
        data = data[:at] + behind[how]
    return data
