"""Tests of the package on Spark."""
