# make install   a virtual environment with everything     make check   style, types, docs
# make demo      see it work                                make test    all tests (make quick: without the slow ones)

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test quick check fix docs bench clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=..."; exit 1; }
	@echo "Installing into $(VENV) (once, about a minute) ..."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	$(BIN)/python -m compileall -q src
	@touch $(STAMP)

demo: install
	$(BIN)/trivium demo
	@echo "To use the command trivium here: . $(BIN)/activate"

test: install
	$(BIN)/python -m pytest -q -n auto --dist loadfile

quick: install
	$(BIN)/python -m pytest -q -m "not slow" -n auto --dist loadfile

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src
	$(BIN)/python -m scripts.check_docs

fix: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: install
	$(BIN)/python -m scripts.gen_cli_docs

bench: install
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name '*.egg-info' -type d -prune -exec rm -rf {} +
