"""The doors to language models, and the extractive composer that needs none."""
