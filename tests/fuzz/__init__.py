"""Tests with random, damaged or oversized input."""
