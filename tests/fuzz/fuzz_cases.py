"""Shared by all fuzz tests: the number of inputs, the accepted errors, and the ways to damage bytes.

``IR_GRADED_FUZZ=100 python -m pytest tests/fuzz`` draws a hundred times as many inputs, different each time.
Without it, there are few inputs, always equal. The number of calls is printed at the end, and
``IR_GRADED_PAGE=docs/trust`` writes it for the documentation page.
"""

import os
import re
from collections import Counter

from hypothesis import HealthCheck, settings, strategies as st

from ir_graded.errors import GradedError

#: Factor of the number of inputs in the normal suite.
EFFORT = int(os.environ.get("IR_GRADED_FUZZ", "1"))
#: Number of calls by target.
COUNTS = Counter()
#: Maximum length of a message; it shows ids, and the longest drawn id has ten thousand characters.
LONGEST = 25_000


#: First words of ir-measures' errors for strings that are not a measure, or that no provider computes.
_UPSTREAM = (
    "problem parsing measure", "measure not found", "Unsupported measures", "unsupported measure",
    "known trec name", "unkonwn measure",
)  # fmt: skip


def fuzz(examples):
    """Return a decorator that draws so many inputs, times the effort."""
    return settings(
        max_examples=examples * EFFORT,
        derandomize=EFFORT == 1,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def error_or_none(target, call, *arguments, place, also=(), **options):
    """Return the message of the error that an input raises, None if it raises none.

    The message of an error of this package must match ``place``, the place of the problem. Other accepted
    errors are those of ir-measures that the documentation allows, and ``also``. Any other error is raised.
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


def spoilt(whole, tokens):
    """Draw bytes with some of them replaced, removed, doubled or cut off, and tokens inserted."""
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
