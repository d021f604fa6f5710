"""Test suites of the project."""
