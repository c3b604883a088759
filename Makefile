# Two commands do everything on a fresh machine with Python 3.11 or later: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# worksteal: tests of a file share its fixtures, and no process waits for the last long file of another.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s%s\n", $$1, $$2 }' Makefile

# Tests start karat hundreds of times: its modules must not be compiled each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test check slow coverage lint bench bench-million bench-limits bench-compare calibrate fuzz mutants docs clean

# What karat needs to run, and nothing else.
$(VENV)/installed: pyproject.toml
	@echo "installing karat and the libraries it needs into $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit("karat needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@touch $@
	@echo "installed: $$(du -sm $(VENV) | cut -f1) MB"

# The same environment with what the tests need.
$(VENV)/ready: $(VENV)/installed
	$(PIP) --editable '.[dev]'
	touch $@

demo: $(VENV)/installed  ## score the bundled corpus and write a report, karat-demo.html
	@$(BIN)/karat demo
	@echo
	@echo "karat is in $(BIN). To use it in this shell: . $(BIN)/activate"

test: $(VENV)/ready  ## run all tests
	$(PYTEST)

check: $(VENV)/ready  ## run the quick tests, in under a minute
	$(PYTEST) -m "not slow"

slow: $(VENV)/ready  ## run the tests that check leaves out
	$(PYTEST) -m slow

coverage: $(VENV)/ready  ## run the quick tests and print how much of karat they reach
	$(PYTEST) -m "not slow" --cov --cov-report=
	@echo "coverage: $$($(BIN)/coverage report --format=total) % of lines and branches ($(BIN)/coverage report lists the rest)"

lint: $(VENV)/ready  ## formatting, lint rules and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(VENV)/docs  ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open site/index.html (or, to search too: $(BIN)/python -m http.server --directory site)"

$(VENV)/docs: $(VENV)/installed
	$(PIP) --editable '.[docs]'
	touch $@

bench: $(VENV)/ready  ## speed and memory of each family at three sizes, and of small inputs
	$(BIN)/python bench/run.py

bench-million: $(VENV)/ready  ## the same up to one million mentions; about ten minutes
	$(BIN)/python bench/run.py --million --rounds 1

bench-limits: $(VENV)/ready  ## several protocols at once, and resampling, each with its limit
	$(BIN)/python bench/limits.py

bench-compare: $(VENV)/ready  ## this version against another commit, in turns: make bench-compare BASE=main
	$(BIN)/python bench/compare.py $(or $(BASE),$(error BASE=... names the commit to compare with))

FUZZ_RUNS ?= 20000
FUZZ_SEED ?= 0

fuzz: $(VENV)/ready  ## damaged files through every command, for some minutes
	PYTHONPATH=tools $(BIN)/python -m fuzz --runs $(FUZZ_RUNS) --seed $(FUZZ_SEED)

MUTANTS_SAMPLE ?= 100
MUTANTS_SEED ?= 0

mutants: $(VENV)/ready  ## small changes of the code that scores, which the tests should notice; an hour or more
	PYTHONPATH=tools nice $(BIN)/python -m mutants --sample $(MUTANTS_SAMPLE) --seed $(MUTANTS_SEED)

calibrate: $(VENV)/ready  ## how often intervals and tests are right, on simulated systems; twenty minutes or more
	$(BIN)/python bench/calibrate.py

clean:  ## remove the environment and everything that was made
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .fuzz karat-demo.html
