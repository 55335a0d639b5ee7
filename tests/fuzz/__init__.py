"""Tests on input that is random, spoilt or out of proportion."""
