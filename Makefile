# Two commands do everything on a fresh machine with Python 3.11 or later: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile

.PHONY: demo test check slow coverage lint bench docs clean

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(VENV)/ready  ## score the bundled corpus
	$(BIN)/karat demo

test: $(VENV)/ready  ## run all tests
	$(PYTEST)

check: $(VENV)/ready  ## run the quick tests, in under a minute
	$(PYTEST) -m "not slow"

slow: $(VENV)/ready  ## run the tests that check leaves out
	$(PYTEST) --dist worksteal -m slow

coverage: $(VENV)/ready  ## run the quick tests and print how much of karat they reach
	$(PYTEST) -m "not slow" --cov --cov-report=
	@echo "coverage: $$($(BIN)/coverage report --format=total) % of lines and branches ($(BIN)/coverage report lists the rest)"

lint: $(VENV)/ready  ## formatting, lint rules and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(VENV)/docs  ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html (or, to search too: $(BIN)/python -m http.server --directory site)"

$(VENV)/docs: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

bench: $(VENV)/ready  ## speed and memory, as ratios within one run
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
