# make demo   train 74 oscillators on the bundled digits
# make test   linters, types, import rules and tests
# make docs   the documentation site, into site/, without any request to another host
# make fuzz   12,000 damaged and hostile files, which must be read or refused: results/fuzz.json
# make soak   commands killed 100 times at random moments, resumed, compared: 9 minutes
# make test-all   all of these but what needs a GPU
# make gpu-test   kernels, every protocol, resume and evaluation on a GPU: 1.5 minutes
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: soak fuzz test-all
.PHONY: demo test docs gpu-test lint page page-tests browser firefox simulators clean

demo: $(VENV)/installed
	$(BIN)/entrain train digits

test: $(VENV)/installed-dev lint page-tests browser simulators
	OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 \
		--dist loadfile --no-loadscope-reorder

docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	$(BIN)/python tools/docs_site/check.py site
	@echo "open site/index.html; the search needs a server: $(BIN)/python -m http.server --directory site"

fuzz: $(VENV)/installed-dev
	PYTHONPATH=tests $(BIN)/python -m fuzzing --mutants 12000 --out results/fuzz.json

# On a machine with a GPU, with the PyTorch that is there: nothing is installed.
gpu-test:
	PYTHONPATH=src:tests $(PYTHON) tests/gpu_check.py

# Real commands, killed at random moments and begun again, end with the same bits.
soak: $(VENV)/installed-dev
	$(BIN)/python tests/slow/soak.py

# What make test leaves out for its time, and the two long ones.
test-all: test fuzz soak
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/installed-dev
	$(BIN)/ruff check src tests benchmarks tools docs/gallery
	$(BIN)/ruff format --check src tests benchmarks tools docs/gallery
	$(BIN)/mypy
	$(BIN)/lint-imports

# The web page of `entrain play`: `make page` builds it, into the package.
page: playground/node_modules/.package-lock.json
	cd playground && npm run --silent build

page-tests:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory page-tests-npm; \
	else echo "SKIPPED: the unit tests of the web page need Node.js and npm, which are not here"; fi

page-tests-npm: playground/node_modules/.package-lock.json
	cd playground && npm run --silent check && npm test --silent

# Not `npm ci`: it wants the optional packages of every platform in the lock file.
playground/node_modules/.package-lock.json: playground/package.json playground/package-lock.json
	cd playground && npm install --no-save --silent --no-audit --no-fund
	@touch $@

# The browsers that tests/page drive; without one its tests say that they skip.
browser: firefox
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	echo "installing chromium for the browser tests"; \
	{ apt-get install -qq -y chromium || { apt-get update -qq && apt-get install -qq -y chromium; }; } \
	>/dev/null 2>&1 || echo "it could not be installed"; fi
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	echo "SKIPPED: the browser tests need Chromium, which is not here (apt-get install chromium)"

firefox:
	@if ! command -v firefox-esr >/dev/null && ! command -v firefox >/dev/null && [ "$$(id -u)" = 0 ] \
	&& command -v apt-get >/dev/null; then \
	echo "installing firefox-esr for the browser tests"; \
	{ apt-get install -qq -y firefox-esr || { apt-get update -qq && apt-get install -qq -y firefox-esr; }; } \
	>/dev/null 2>&1 || echo "it could not be installed"; fi
	@command -v firefox-esr >/dev/null || command -v firefox >/dev/null || \
	echo "SKIPPED: tests/page/test_play_firefox.py needs Firefox, which is not here (apt-get install firefox-esr)"

# The programs that tests/circuits runs exported circuits in; without them they skip.
SIMULATORS := ngspice iverilog verilator yosys nextpnr-ice40
simulators:
	@missing=""; for each in $(SIMULATORS); do command -v $$each >/dev/null || missing="$$missing $$each"; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	echo "installing$$missing for the tests of circuits"; \
	{ apt-get install -qq -y $$missing || { apt-get update -qq && apt-get install -qq -y $$missing; }; } \
	>/dev/null 2>&1 || echo "they could not be installed"; fi
	@for each in $(SIMULATORS); do command -v $$each >/dev/null || \
	echo "SKIPPED: tests of circuits need $$each, which is not here (apt-get install $$each)"; done

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
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
