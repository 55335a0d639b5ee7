"""Write and read scores as JSON.

The JSON is an object with ``format`` ("ir_graded scores"), ``version`` (1), ``written_by`` (versions of
ir_graded and ir_measures), ``measures`` (strings with all parameters), ``runs``, ``query_ids`` and
``values``. ``values`` is a nested list over measures, runs and topics, with null for a missing score.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded._version import __version__
from ir_graded.core.segments import Floats
from ir_graded.errors import FileFormatError, InputError
from ir_graded.measures.parsing import parse_measure

FORMAT, VERSION = "ir_graded scores", 1

#: Runs, measures, topics and values.
Parts = tuple[tuple[str, ...], tuple[Measure, ...], tuple[Any, ...], Floats]


def to_json(runs: tuple[str, ...], measures: list[str], query_ids: tuple[Any, ...], values: Floats) -> str:
    """Return scores as JSON. Raises InputError if topics are neither text nor whole numbers."""
    ids = [one.item() if isinstance(one, np.integer) else one for one in query_ids]
    if not set(map(type, ids)) <= {str, int}:
        raise InputError("to_json needs query_ids that are text or whole numbers: convert them")
    cells = values.astype(object)
    cells[np.isnan(values)] = None
    content = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": {"ir_graded": __version__, "ir_measures": version("ir-measures")},
        "measures": measures,
        "runs": list(runs),
        "query_ids": ids,
        "values": cells.tolist(),
    }
    return json.dumps(content, ensure_ascii=False)


def from_json(text: str | bytes) -> Parts:
    """Return the parts of scores. Raises FileFormatError if the text is not from ``to_json``."""
    try:
        content = json.loads(text)
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise ValueError(f"format {content['format']!r}, version {content['version']!r}")
        measures = tuple(map(parse_measure, content["measures"]))
        runs, query_ids = tuple(map(str, content["runs"])), tuple(content["query_ids"])
        values = np.array(content["values"], dtype=np.float64)
        shape = len(measures), len(runs), len(query_ids)
        if values.shape != shape and values.size:
            raise ValueError(f"values have shape {values.shape}, expected {shape}")
        return runs, measures, query_ids, values.reshape(shape)
    except (KeyError, TypeError, ValueError, NameError) as error:
        raise FileFormatError(
            f"expected JSON of {FORMAT}, version {VERSION}, from Scores.to_json: {error}"
        ) from None
