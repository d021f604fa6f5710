"""Remember: KIP 1.0-RC10, from command text to response."""

CAPSULE_VERSION = "1"
"""Of the standard capsules. Raise it when a shipped one changes: open stores then gain what is new.

Here, and not beside `install`, so that opening a store loads no writers.
"""
