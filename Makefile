# make demo   train 74 oscillators on the bundled digits
# make test   linters, types, import rules and tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint clean

demo: $(VENV)/installed
	$(BIN)/entrain train digits

test: $(VENV)/installed-dev lint
	$(BIN)/python -m pytest

lint: $(VENV)/installed-dev
	$(BIN)/ruff check src tests benchmarks tools
	$(BIN)/ruff format --check src tests benchmarks tools
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing entrain into $(VENV) (a few minutes the first time)"
	$(PIP) --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing entrain and its development tools into $(VENV) (a few minutes the first time)"
	$(PIP) --editable ".[dev]"
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
