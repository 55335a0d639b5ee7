"""Slow and plain reference implementations, used by the tests."""
