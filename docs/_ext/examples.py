"""A temporary folder with copies of ``docs/files``, in which the examples of the pages run."""

from __future__ import annotations

import os
import shutil
import tempfile


class Folder:
    """Change into a new folder with the example files, until ``leave`` is called."""

    def __init__(self) -> None:
        self.before = os.getcwd()  # noqa: PTH109  # for os.chdir
        self.path = tempfile.mkdtemp()
        shutil.copytree(os.environ["IR_GRADED_DOCS_FILES"], self.path, dirs_exist_ok=True)
        os.chdir(self.path)

    def leave(self) -> None:
        """Go back and remove the folder."""
        os.chdir(self.before)
        shutil.rmtree(self.path)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
