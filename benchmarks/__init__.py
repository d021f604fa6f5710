"""What Trivium costs against hand-written SQL on the same file: `python -m benchmarks` (docs/benchmarks.md)."""
