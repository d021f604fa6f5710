"""Shapes (JSON Schemas) of answers: which are taken, whether a value conforms, and how one is filled from quotes."""
