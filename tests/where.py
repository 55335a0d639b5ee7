"""The tests of each module, to run after each small change.

python -m pytest $(python tests/where.py ir_graded/measures/ncu.py)    # its tests: seconds
python tests/where.py                                                   # all modules
"""

import sys
from fnmatch import fnmatch
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "ir_graded"

#: Patterns of modules and their tests, of which the first that fits holds. `{}` is the name of the module.
TABLE = {
    "data/*": "recorded/test_recorded_results.py",
    "analyses/score_intervals/__init__.py": "unjudged/test_score_intervals.py",
    "*/__init__.py": "ecosystem/test_importing.py project/test_public_api.py",
    "_utils/atomic_files.py": "faults/test_fault_writing.py",
    "_utils/later.py": "ecosystem/test_importing.py ecosystem/test_pickling.py ecosystem/test_extras.py",
    "_utils/measure_names.py": "measures/test_measure_names.py",
    "_utils/results.py": "meta/test_short_reprs.py",
    "_utils/threads.py": "faults/test_fault_concurrency.py ecosystem/test_many_runs.py",
    "analyses/answers.py": "answers/test_answer_scores.py",
    "analyses/arrays.py": "ecosystem/test_arrays.py ecosystem/test_metric.py",
    "analyses/estimates.py": "sampled/test_estimates.py",
    "analyses/explain.py": "explain/test_explanation.py explain/test_compare_rankings.py",
    "analyses/judgment_comparison.py": "judgments/test_compare_judgments.py",
    "analyses/overlap.py": "ecosystem/test_overlap.py",
    "analyses/pools.py": "unjudged/test_pool.py ecosystem/test_collection_statistics.py",
    "analyses/score_intervals/imputation.py": "unjudged/test_score_intervals.py unjudged/test_run_model.py",
    "analyses/trec_eval.py": "cli/test_trec_eval_command.py",
    "analyses/unjudged.py": "unjudged/test_unjudged_command.py unjudged/test_score_bounds.py",
    "analyses/verification.py": "signature/test_verify.py",
    "cli/collection.py": "unjudged/test_pool.py cli/test_judgments_command.py",
    "cli/compare.py": "cli/test_compare_command.py",
    "cli/explain.py": "explain/test_explanation.py signature/test_verify.py",
    "cli/options.py": "cli/test_every_option.py cli/test_beside_options.py",
    "cli/report.py": "report/test_report.py plots/test_report_figures.py",
    "cli/sources.py": "cli/test_command_line.py cli/test_run_names.py",
    "cli/statistics.py": "cli/test_meta_command.py cli/test_plan_command.py",
    "cli/trec_eval.py": "cli/test_trec_eval_command.py",
    "cli/*": "cli/test_command_line.py cli/test_exit_codes.py",
    "core/judged_run.py": "measures/test_judged_run.py",
    "core/levels.py": "measures/test_many_levels.py sampled/test_strata_measures.py",
    "core/nuggets.py": "nuggets/test_nugget_values.py",
    "core/overlap.py": "ecosystem/test_overlap.py",
    "core/passages.py": "passages/test_spans.py",
    "core/ranking.py": "measures/test_ranking.py ties/test_precision.py",
    "core/segments.py": "measures/test_segments.py",
    "core/texts.py": "measures/test_ranking.py inputs/test_plain_files.py",
    "core/tie_means.py": "reference/test_every_measure.py ties/test_large_tie_groups.py",
    "core/*": "measures/test_worked_examples.py measures/test_columns.py",
    "errors.py": "ecosystem/test_bad_input.py inputs/test_wrong_files.py",
    "evaluation/coverage.py": "ecosystem/test_coverage.py",
    "evaluation/evaluate.py": "ecosystem/test_evaluate.py",
    "evaluation/provider.py": "ecosystem/test_calls_of_ir_measures.py ecosystem/test_pyterrier.py",
    "evaluation/ranges.py": "ecosystem/test_score_ranges.py",
    "evaluation/run_comparison.py": "cli/test_compare_command.py",
    "evaluation/scores.py": "ecosystem/test_scores.py ecosystem/test_benchmark_folders.py",
    "evaluation/signature.py": "signature/test_signature.py",
    "evaluation/tables.py": "ecosystem/test_score_tables.py",
    "io/annotations.py": "intents/test_intent_input.py intents/test_group_input.py",
    "io/assignments.py": "judgments/test_assignments_of_judges.py",
    "io/experiments.py": "ecosystem/test_benchmark_folders.py",
    "io/files.py": "inputs/test_files.py inputs/test_run_pieces.py",
    "io/formats.py": "inputs/test_files.py inputs/test_wrong_files.py",
    "io/lengths.py": "chunks/test_chunk_values.py",
    "io/lines.py": "inputs/test_files.py inputs/test_wrong_files.py",
    "io/parquet.py": "inputs/test_files.py",
    "io/plain.py": "inputs/test_plain_files.py",
    "io/records.py": "inputs/test_wrong_files.py answers/test_answer_inputs.py",
    "io/responses.py": "inputs/test_search_responses.py",
    "io/run_names.py": "cli/test_run_names.py",
    "io/slices.py": "inputs/test_weights.py",
    "io/sources.py": "ecosystem/test_forms.py ecosystem/test_ir_datasets.py",
    "io/table.py": "ecosystem/test_forms.py ecosystem/test_ids.py",
    "io/text.py": "inputs/test_files.py",
    "io/values.py": "ecosystem/test_bad_input.py ecosystem/test_ids.py",
    "matching/articles.py": "passages/test_passages_against_reference.py passages/test_ranks_of_rows.py",
    "matching/lookup.py": "inputs/test_shared_keys.py",
    "matching/plain.py": "inputs/test_plain_files.py",
    "matching/*": "ecosystem/test_forms.py ecosystem/test_coverage.py",
    "measures/answers.py": "answers/test_answer_scores.py",
    "measures/classic/cwl.py": "classics/test_cwl.py",
    "measures/classic/intents.py": "classics/test_classics_over_intents.py",
    "measures/classic/ties.py": "ties/test_ties_surface.py",
    "measures/classic/*": "reference/test_every_measure.py classics/test_classics_by_hand.py",
    "measures/geometric.py": "measures/test_geometric_mean.py",
    "measures/groups.py": "intents/test_groups.py",
    "measures/intents.py": "intents/test_intent_measures.py reference/test_every_measure.py",
    "measures/nuggets.py": "nuggets/test_nugget_values.py",
    "measures/params.py": "measures/test_parameters.py contracts/test_contract_parameters.py",
    "measures/parsing.py": "contracts/test_contract_names.py measures/test_upstream_strings.py",
    "measures/passages.py": "passages/test_passages_against_reference.py",
    "measures/sampled.py": "sampled/test_strata_measures.py",
    "measures/pyterrier_notes.py": "ecosystem/test_pyterrier.py",
    "measures/*": "reference/test_every_measure.py measures/test_worked_examples.py",
    "meta/max_t.py": "meta/test_differences.py meta/test_ranks.py meta/test_near_twins.py",
    "meta/options.py": "meta/test_defaults.py",
    "meta/paired_tests.py": "meta/test_differences.py",
    "meta/replicates.py": "meta/test_stability.py meta/test_significance.py",
    "meta/topics.py": "meta/test_clusters.py meta/test_differences.py",
    "meta/*": "meta/test_{}.py",
    "passages/chunks.py": "chunks/test_chunk_tools.py chunks/test_chunk_values.py",
    "passages/quotes.py": "chunks/test_quotes.py",
    "passages/*": "passages_files/test_{}.py",
    "plots/topics.py": "plots/test_diversity_plots.py plots/test_rankings_plot.py",
    "plots/meta.py": "plots/test_meta_plots.py",
    "plots/*": "plots/test_score_plots.py",
    "plugin.py": "ecosystem/test_calls_of_ir_measures.py ecosystem/test_pickling.py",
    "reporting/*": "report/test_report.py",
    "sentence_transformers.py": "ecosystem/test_sentence_transformers.py",
    "spark/files.py": "spark/test_without_session.py spark/test_spark.py",
    "spark/*": "spark/test_partitions.py spark/test_spark.py",
    "torchmetrics.py": "ecosystem/test_metric.py",
    "*": "ecosystem/test_importing.py",
}


def places_of(module: Path) -> list[Path]:
    """Return the tests of a module of the package."""
    place = module.resolve().relative_to(PACKAGE).as_posix()
    found = next(tests for pattern, tests in TABLE.items() if fnmatch(place, pattern))
    return [TESTS / test.format(module.stem) for test in found.split()]


def main(modules: list[str]) -> None:
    """Print the tests of the modules, or a line a module."""
    here = Path.cwd()
    if modules:
        found = [test for module in modules for test in places_of(Path(module))]
        print(*dict.fromkeys(str(test.relative_to(here)) for test in found))
        return
    for module in sorted(PACKAGE.rglob("*.py")):
        print(module.relative_to(here), *(test.relative_to(here) for test in places_of(module)))


if __name__ == "__main__":
    main(sys.argv[1:])
