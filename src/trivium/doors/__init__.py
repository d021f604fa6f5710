"""The doors: ways into a knowledge base from outside Python. Each is thin and calls the same functions."""
