"""Progress bars."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


def progress_bar(items: Iterable[Any] | None = None, *, progress: bool | None, **options: Any) -> Any:
    """Return a tqdm bar over ``items`` that disappears when it is done.

    Args:
        items: an iterable; without one, the caller updates the bar.
        progress: whether to show a bar; None shows one on a terminal. If standard error is closed, no bar is
            shown.
        options: further options of tqdm, such as ``total`` and ``unit``.
    """
    from tqdm import tqdm

    # With None, tqdm shows a bar on a terminal only.
    disable = None if progress is None else not progress
    return tqdm(items, disable=True if sys.stderr is None else disable, leave=False, **options)
