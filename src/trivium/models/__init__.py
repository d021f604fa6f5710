"""The doors to language models, the catalogue of what may compose answers, and the checks of what a model says."""
