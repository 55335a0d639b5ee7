"""Slow and plain reference implementations that the tests compare with."""
