"""Explain: a repository's decisions, concepts and changes, and `why` over them (Knowledge query v1)."""
