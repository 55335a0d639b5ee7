"""Record the package's results bit by bit, and compare them with those of an earlier version.

Before a change that must not change a value::

    python tests/recorder record before.recording

and after it::

    python tests/recorder compare before.recording

The second command lists every value that differs, by section, measure, collection and topic. It exits
with 1 if there are any. Texts such as errors are compared too, but reported separately. Only the public
interface is used, so that one recorder runs on both versions.
"""
