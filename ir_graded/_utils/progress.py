"""Who sees a progress bar."""

from __future__ import annotations

import sys


def hidden(progress: bool | None) -> bool | None:
    """What tqdm takes as ``disable``; None there shows the bar on a terminal only.

    Args:
        progress: True shows a bar, False none, None one on a terminal. Where standard error is closed there
            is none.
    """
    if sys.stderr is None:
        return True
    return None if progress is None else not progress
