"""Which standard capsules this version ships. Apart from `install`, so that opening a store loads no writers."""

CAPSULE_VERSION = "1"
"""Raise it when a shipped capsule changes: open stores then gain what is new."""
