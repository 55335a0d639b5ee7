"""Coverage-guided fuzzing with atheris, which needs Python 3.11 or older and is installed separately.

Run ``pip install atheris``, then ``python tests/fuzz/atheris_run.py parser --seconds 600``. Use ``files`` or
``submissions`` instead of ``parser`` to fuzz the readers. Inputs that break something are saved in
``--folder``.
"""

import argparse
import sys
import tempfile
from pathlib import Path


def parser():
    """Return target, seeds and words for measure strings; some bytes are not valid UTF-8."""
    from fuzz.test_fuzz_measures import check
    from ir_graded.measures import REGISTRY

    seeds = [f"{name}(rel=2,gains={{1:2}})@5".encode() for name in REGISTRY]
    words = b"( ) @ = { } [ ] inf gains beta 0x 1e400 **".split()
    return lambda _, data: check(data.decode(errors="surrogateescape")), seeds, words


def files():
    """The first byte chooses a format, or the compression that is applied to the rest."""
    from fuzz.test_fuzz_files import COMPRESSIONS, LINES, TOKENS, check
    from ir_graded.io.formats import FORMATS

    ways = [None, *sorted({one.name for one in FORMATS}), *COMPRESSIONS]

    def target(folder, data):
        way, text = ways[data[0] % len(ways)] if data else None, data[1:]
        if way in COMPRESSIONS:
            way, text = None, COMPRESSIONS[way](text)
        check(folder / "file", text, "files", way)

    return target, [b"\0" + b"\n".join(lines) for lines in LINES.values()], TOKENS


def submissions():
    """A submission and, after a null byte, an article."""
    from fuzz.test_fuzz_submissions import ARTICLE, SUBMISSION, TOKENS, check

    def target(folder, data):
        submission, null, article = data.partition(b"\0")
        check(folder, submission, article if null else ARTICLE)

    return target, [SUBMISSION + b"\0" + ARTICLE], TOKENS


TARGETS = {"parser": parser, "files": files, "submissions": submissions}


def _quoted(word):
    """Return a word in the syntax of libFuzzer's dictionary files."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n'


def main():
    """Fuzz for some time; atheris ends the process, with an error if an input broke something."""
    import atheris

    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("target", choices=TARGETS)
    arguments.add_argument("--seconds", type=int, default=600)
    arguments.add_argument("--folder", type=Path, help="where inputs are kept from run to run")
    given = arguments.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    with atheris.instrument_imports(include=["ir_graded", "ir_measures"]):
        target, seeds, words = TARGETS[given.target]()
    folder = given.folder or Path(tempfile.mkdtemp())
    corpus, work = folder / "corpus", folder / "work"
    for made in (corpus, work):
        made.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed {number}").write_bytes(seed)
    (folder / "words").write_text("".join(map(_quoted, words)))
    options = [
        f"-max_total_time={given.seconds}", f"-dict={folder / 'words'}", f"-artifact_prefix={folder}/",
        "-timeout=10", "-rss_limit_mb=2048", "-max_len=4096",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus)], lambda data: target(work, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
