"""Lists of measures and commands in README.md and the guide, made from their docstrings and parameters.

``python docs/_ext/lists.py`` writes each list between the lines ``generated: NAME`` and ``end of generated``
of its file. The lists are stored because GitHub shows these files without a build.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, groupby
from pathlib import Path

from measure_pages import slug, table

from ir_graded import measures
from ir_graded.cli.main import QUESTIONS, summary
from ir_graded.measures import NAMES, REGISTRY, GradedMeasure
from ir_graded.measures.base import sections

ROOT = Path(__file__).parents[2]
COMMAND = "nox -s generate"
_BLOCK = re.compile(
    r"((?:<!--|\.\.|#) generated: (\w+)[^\n]*\n).*?\n((?:<!--|\.\.|#) end of generated)", re.DOTALL
)


def users() -> Iterator[tuple[str, list[GradedMeasure], str]]:
    """Yield each kind of users in the docstrings, its measures, and their binary counterparts."""
    found: dict[str, dict[GradedMeasure, str]] = {}
    for measure in dict.fromkeys(measure for measure in REGISTRY.values() if not measure.params):
        text = " ".join(sections(type(measure))["Users"].split()).removesuffix(".")
        who, _, binary = text.removeprefix("Users ").partition(". Binary counterpart: ")
        if who:
            found.setdefault(who, {})[measure] = binary
    for who, of in found.items():
        yield who, list(of), ", ".join(dict.fromkeys(filter(None, of.values())))


def _at(measure: GradedMeasure) -> str:
    cutoff = measure.SUPPORTED_PARAMS.get("cutoff")
    return f"{measure.NAME}@k" if cutoff is not None and cutoff.required else measure.NAME


def _requires_values(measure: GradedMeasure) -> bool:
    """Tell whether a measure has a required parameter apart from the cutoff, such as the name of a column."""
    return any(param.required for name, param in measure.SUPPORTED_PARAMS.items() if name != "cutoff")


def in_readme() -> str:
    """Return the table of users and measures in Markdown, without measures that need further columns."""
    rows = [
        f"| {who.replace('``', '`')} | {', '.join(f'`{_at(measure)}`' for measure in of)} | {binary} |"
        for who, of, binary in users()
        if not any(measure.NEEDS or _requires_values(measure) for measure in of)
    ]
    return "\n".join(["| your users | measure | binary counterpart |", "|---|---|---|", *rows])


def in_guide() -> str:
    """Return the table of users and measures with links, in reStructuredText."""
    rows = [
        (who, ", ".join(f":ref:`{_at(measure)} <measure-{slug(measure.NAME)}>`" for measure in of), binary)
        for who, of, binary in users()
    ]
    return f"\n{table(('your users', 'measure', 'binary counterpart'), rows, (50, 25, 25))}\n"


def with_scale() -> str:
    """Return the measures, or their variants, that take the highest level of the scale from the qrels."""
    names = []
    for measure in dict.fromkeys(REGISTRY.values()):
        if "max_rel" in measure.SUPPORTED_PARAMS and not measure.params:
            words = {name: getattr(param, "words", ()) for name, param in measure.SUPPORTED_PARAMS.items()}
            variants = (measure(**{name: word}) for name in words for word in words[name])
            names.append(next(f"``{one}``" for one in chain((measure,), variants) if one.infers_scale))
    return f"\n{', '.join(names[:-1])} and {names[-1]}\n"


def of_names() -> str:
    """Return a line per measure: its constants and its names; or the names of measures without constants."""
    constants: dict[int, list[str]] = {}
    for name in measures.__all__:
        constants.setdefault(id(getattr(measures, name)), []).append(name)
    names: dict[int, list[str]] = {}
    for name, measure in NAMES.items():
        names.setdefault(id(measure), []).append(name)

    def prefix(measure: int) -> str | None:
        found = re.match("[^-]+-(?=.)", names[measure][0])
        return None if measure in constants else found[0] if found else ""

    lines: list[str] = []
    for start, of in groupby(names, prefix):
        if start is None:
            lines += (" ".join(("/".join(constants[one]), *names[one])) for one in of)
        else:
            rest = (name.removeprefix(start) for one in of for (name,) in [names[one]])
            lines.append(" ".join((f"{start}:", *rest)))
    return "\n".join(lines)


#: Pages of the guide on each command, and on its options that answer another question.
GUIDES = {
    "evaluate": "start",
    "report": "report",
    "answers": "answers",
    "trec_eval": "trec_eval",
    "demo": "start",
    "compare": "gates",
    "ranks": "leaderboards",
    "significance": "leaderboards",
    "across": "collections",
    "history": "history",
    "explain": "looking_closer",
    "rbo": "overlap",
    "evaluate --unjudged": "unjudged",
    "evaluate --estimates": "judge_sample",
    "judgments": "labels",
    "pool": "small_budget",
    "plan": "sample_size",
    "measures": "choosing",
    "meta": "which_measure",
    "statistics": "count_judged",
    "passages": "passages",
    "verify": "saved_scores",
}


def of_commands() -> str:
    """Return the table of questions and the commands that answer them."""
    rows = [
        (
            question if entry == next(iter(group)) else "",
            f":option:`{entry} <ir_graded {entry}>`" if " " in entry else f":ref:`{entry} <command-{entry}>`",
            summary(entry, module).replace("_", r"\_"),
            f":doc:`{GUIDES[entry]}`",
        )
        for question, group in QUESTIONS.items()
        for entry, module in group.items()
    ]
    return f"\n{table(('question', 'command', 'what it does', 'guide'), rows, (20, 20, 40, 20))}\n"


LISTS: dict[str, Callable[[], str]] = {
    "readme": in_readme,
    "guide": in_guide,
    "scale": with_scale,
    "names": of_names,
    "commands": of_commands,
}
FILES = [
    *(
        ROOT / name
        for name in ("README.md", "ir_graded/pt_docs/index.rst", "ir_graded/_utils/measure_names.txt")
    ),
    *(ROOT / "docs/guide").glob("*.rst"),
]


def current(text: str) -> str:
    """Return a text with its lists made anew."""
    return _BLOCK.sub(lambda found: f"{found[1]}{LISTS[found[2]]()}\n{found[3]}", text)


def main() -> None:
    """Write the lists into all files that have one."""
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        if (new := current(text)) != text:
            path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
