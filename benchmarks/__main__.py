"""`python -m benchmarks`."""

from benchmarks.kip import main

if __name__ == "__main__":
    raise SystemExit(main())
