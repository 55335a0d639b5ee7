"""The generated pages list everything registered or public, and the build fails if a page is missing."""

import inspect
import re
from functools import cache

import api_pages
import command_pages
import figures
import lists
import measure_pages
import pytest
from doc_blocks import DOCS, PAGES, blocks

from ir_graded import explain, meta
from ir_graded.cli.main import QUESTIONS, commands
from ir_graded.measures import ANSWERS, NAMES, PROPERTIES, REGISTRY
from ir_graded.measures.base import StopUtility, register
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.params import MAX_REL, REQUIRED_CUTOFF
from ir_graded.measures.parsing import LACKING, MEANT

MEASURES = sorted({measure.NAME for measure in REGISTRY.values()})


@cache
def page_of(name):
    """Return the page of one measure, so that a page that fails is a failure of its measure alone."""
    return measure_pages.page_of(measure_pages.measures()[name])


@pytest.mark.parametrize("name", MEASURES)
def test_every_registered_measure_has_a_page(name):
    measure = measure_pages.measures()[name]
    page = page_of(name)
    for part in (
        measure.SHORT_DESC,
        ".. math::",
        ">>> ",
        "Worked example",
        "When to use it",
        "Source\n------",
    ):
        assert part in page.text
    for parameter, param in measure.SUPPORTED_PARAMS.items():
        assert f"* - ``{parameter}``" in page.text
        assert param.desc in page.text
        assert param.expected in page.text
    for alias, target in REGISTRY.items():
        if target.NAME == name != alias:
            assert f"``{alias}``" in page.text
    assert page.pictures
    assert f":ref:`{name} <measure-{measure_pages.slug(name)}>`" in measure_pages.index()


@pytest.mark.parametrize("name", MEASURES)
def test_the_page_lists_the_properties_that_hold(name):
    measure = measure_pages.measures()[name]
    text = page_of(name).text.partition("Properties\n----------\n")[2]
    assert ("Does not hold" in text) == bool(measure.lacks)
    for words in PROPERTIES.values():
        assert words in text
    for reason in measure.lacks.values():
        assert f"Here {reason}:\n\n>>> " in text


@pytest.mark.parametrize("name", sorted({measure.NAME for measure in ANSWERS.values()}))
def test_every_measure_of_answers_has_a_page_without_a_ranking(name):
    page = page_of(name)
    for part in (ANSWERS[name].SHORT_DESC, ".. math::", "score_answers", "When to use it", "Source\n------"):
        assert part in page.text
    assert all(f"``{alias}``" in page.text for alias, one in ANSWERS.items() if one.NAME == name != alias)
    assert not page.pictures
    assert "Worked example" not in page.text
    assert "Properties" not in page.text
    assert f":ref:`{name} <measure-{measure_pages.slug(name)}>`" in measure_pages.index()


def test_page_names_are_unique():
    names = measure_pages.measures()
    assert len({*map(measure_pages.slug, names)}) == len({measure.NAME for measure in NAMES.values()})


def test_a_measure_without_a_section_fails_the_build():
    class _Unexplained(StopUtility):
        """A measure."""

        NAME = PRETTY_NAME = "Unexplained"

    try:
        register(_Unexplained())
        with pytest.raises(LookupError, match="_Unexplained has no Definition, Formula, Use it, Source, Ex"):
            measure_pages.pages()
    finally:
        del REGISTRY["Unexplained"]


@pytest.mark.parametrize("name", measure_pages.measures())
def test_a_page_defines_the_symbols_of_its_formulas(name):
    formulas = "".join(re.findall(r"\.\. math::\n\n(.*)\n", page_of(name).text))
    for symbol, definition in measure_pages.DEFINITIONS.items():
        assert symbol not in formulas or definition.partition(" = ")[0] in formulas, symbol


def test_the_stored_lists_of_measures_are_current():
    for path in lists.FILES:
        text = path.read_text(encoding="utf-8")
        assert lists.current(text) == text, f"`{lists.COMMAND}` writes the lists in {path.name}"


def test_lists_follow_from_docstrings_and_parameters(monkeypatch):
    class _Listed(StopUtility):
        """A measure.

        Users read nothing. Binary counterpart: none.
        """

        NAME = PRETTY_NAME = "Listed"
        SUPPORTED_PARAMS = {"max_rel": MAX_REL, "cutoff": REQUIRED_CUTOFF}
        infers_scale = True

    monkeypatch.setitem(REGISTRY, "Listed", _Listed())
    assert "\n| read nothing | `Listed@k` | none |" in lists.in_readme()
    assert ":ref:`Listed@k <measure-listed>`" in lists.in_guide()
    assert lists.with_scale().endswith(" and ``Listed``\n")
    assert "``NCU(stop='err')``" in lists.with_scale()
    assert "| read nothing |" in lists.current("<!-- generated: readme -->\nold\n<!-- end of generated -->")


def test_the_worked_example_matches_the_paper():
    """Sakai and Robertson (2008): Q .2219, NCU gu .2610, NCU rb with gamma=.7 .3842."""
    assert "is 0.2219." in page_of("Q").text
    assert "is 0.2610." in page_of("NCU").text
    assert "is 0.3842." in page_of("NCU").text


def test_the_classics_are_listed_with_their_providers():
    table = measure_pages.classics()
    for name in CLASSICS:
        assert f"* - ``{name}``" in table
    providers = {"AP": "pytrec_eval, cwl_eval", "ERR": "gdeval", "Judged": "judged", "RBP": "cwl_eval"}
    for name, expected in providers.items():
        row = table.partition(f"* - ``{name}``\n")[2].split("\n")
        assert row[2].strip() == f"- {expected}"


def test_names_of_other_programs_are_in_a_table_and_in_the_index():
    page = measure_pages.other_names()
    for name in ("mrr", "gm_map", *MEANT, *LACKING):
        assert f"\n   ! single: {name.lower()}\n" in page
        assert f"``{name}``" in page.replace("MRR", "mrr")
    assert "* - ``QMeasure@k``\n     - ``Q(norm='cutoff')@k``" in page
    for words in ("map@10", "recall@10", "hit rate", "context precision"):
        assert f"\n   ! single: {words}\n" in page
    assert "* - ``MAP``, ``average_precision``" in page
    assert "\n     - ``AP``\n" in page
    assert "* - ``context_precision``\n     - not here. AP@k of judged chunks" in page


def test_every_public_name_has_one_entry():
    text = "".join(api_pages.pages().values())
    for name, value in api_pages.public().items():
        if inspect.ismodule(value):
            continue
        entries = re.findall(rf"^(?:\.\. auto\w+:: {name}|\* ``{name}``: .*)$", text, re.MULTILINE)
        assert len(entries) == 1, name


def test_a_public_name_without_a_page_ends_the_build(monkeypatch):
    monkeypatch.delitem(api_pages.TASKS, "errors")
    with pytest.raises(LookupError, match="no page for ir_graded"):
        api_pages.pages()


def test_every_page_of_the_reference_is_listed():
    listed = (DOCS / "api" / "index.rst").read_text(encoding="utf-8").split("\n")
    assert [line.strip() for line in listed if line.strip() in api_pages.TASKS] == [*api_pages.TASKS]


def test_dois_are_links():
    link = "`doi:10.1145/1277741.1277756 <https://doi.org/10.1145/1277741.1277756>`__"
    assert f'"Alternatives to Bpref" (SIGIR 2007), {link}, after' in page_of("B-pref").text


def test_every_instrument_of_the_meta_evaluation_is_explained():
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("guide/*.rst"))
    functions = [name for name in meta.__all__ if inspect.isfunction(getattr(meta, name))]
    for name in functions:
        assert re.search(rf"meta\.{name}\b|``{name}\b", text), name


def test_the_table_of_statistics_names_functions_that_exist():
    text = (DOCS / "meta.rst").read_text(encoding="utf-8")
    assert {*re.findall(r"``meta\.(\w+)", text)} <= {*meta.__all__}


@pytest.mark.parametrize("command", sorted(commands.commands))
def test_every_command_is_documented(command):
    text = command_pages.page()
    assert f".. _command-{command}:" in text
    section = text.partition(f"\n.. program:: ir_graded {command}\n")[2].partition("\n.. _command-")[0]
    listed = {*re.findall(r"(?<= )--?\w[\w-]*", " ".join(re.findall(r"\.\. option::.*", section)))}
    assert listed >= {
        name for param in commands.commands[command].params for name in param.opts if "-" in name
    }


def test_the_index_has_the_questions_of_the_command_line():
    captions = re.findall(
        r":caption: (.*\?)$", (DOCS / "index.rst").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert captions == [*QUESTIONS]


def test_help_has_no_markup_in_the_reference_of_commands():
    assert command_pages._plain("cg* of `ir_graded x_y` | run_") == r"cg\* of ``ir_graded x_y`` \| run\_"


def test_every_page_of_the_guide_answers_one_question_of_the_index():
    text = (DOCS / "index.rst").read_text(encoding="utf-8")
    table, _, tocs = text.partition("Find the page for your question")[2].partition(".. toctree::")
    questions = re.findall(r', "(.*\?)", :doc:`guide/(\w+)`', table)
    listed = [page for _, page in questions]
    assert len({question for question, _ in questions}) == len(listed)
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("guide/*.rst"))
    assert listed == re.findall(r"^   (?:\w+ <)?guide/(\w+)>?$", tocs, re.MULTILINE)


def test_names_of_drawings_are_unique():
    """The files of drawings with one name would be one file."""
    drawings = [block.argument for page in PAGES for block in blocks(page) if block.directive == "drawing"]
    assert len({*drawings}) == len(drawings) > 0


def test_drawings_have_no_background(tmp_path):
    figure = explain("Q", {"1": {"a": 1}}, {"1": {"a": 1.0}}, "1").plot()
    figures.save(figure, tmp_path / "q.svg")
    assert (
        "fill: #ffffff; stroke" not in (tmp_path / "q.svg").read_text(encoding="utf-8").partition("axes_1")[0]
    )
