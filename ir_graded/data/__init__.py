"""The sample that is shipped with the package, and nothing else."""
