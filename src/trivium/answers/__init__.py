"""Answers as quotes from passages, without a model, and the seam that every composer of answers keeps to."""
