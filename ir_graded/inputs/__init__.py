"""Qrels and runs of any form, on their way to hits."""
