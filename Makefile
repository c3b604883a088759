# Two commands do everything on a fresh machine with Python 3.11 or later: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench clean

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(VENV)/ready  ## score the bundled corpus
	$(BIN)/karat demo

test: $(VENV)/ready  ## run all tests
	$(BIN)/python -m pytest

lint: $(VENV)/ready  ## formatting, lint rules and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/ready  ## speed and memory, as ratios within one run
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
