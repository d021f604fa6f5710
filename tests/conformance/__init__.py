"""Conformance suites kept as data, and the runner that plays them."""
