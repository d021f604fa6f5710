"""Programs for people who work on Trivium; run them from the project's folder, as in `python -m scripts.check_docs`."""
