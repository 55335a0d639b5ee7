"""``python tests/recorder``: see command.py."""

import sys
from pathlib import Path

# The folder of the tests, and that of the package: the results are those of this checkout.
sys.path[0] = str(Path(__file__).resolve().parents[1])
sys.path.insert(1, str(Path(__file__).resolve().parents[2]))

from recorder.command import main  # noqa: E402

sys.exit(main())
