# Everything a stranger needs: `make demo` and `make test`; `make check` for daily work.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo check test lint fuzz clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

demo: setup
	$(BIN)/multirater demo --output demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

QUICK := tests/fuse tests/fusion tests/metrics tests/sanity tests/samples tests/io/tables \
  tests/io/results tests/io/drawings tests/test_trust.py tests/test_words.py tests/test_errors.py \
  tests/test_types.py tests/test_patterns.py tests/test_rater_choice.py tests/test_docstrings.py

check: lint
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --quiet $(QUICK)

test: lint
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

fuzz: setup
	MULTIRATER_FUZZ=500 $(BIN)/python -m pytest tests/fuzz

clean:
	rm -rf $(VENV) demo out
