# make demo           train 74 oscillators on the bundled digits
# make test           linters, types, import rules and the library's tests: Python, make and pip suffice
# make docs           the documentation site, into site/, without any request to another host
# make test-all       make test, then every part below; each also runs alone
#   test-page         the web page: its unit tests (npm), and in Chromium and Firefox
#   test-circuits     exported circuits in ngspice, Icarus Verilog, Verilator, Yosys and nextpnr
#   test-cluster      a Ray cluster whose nodes and workers are killed
#   test-paper        the reproduction of the paper, at a small size
#   test-slow         the tutorials, the documentation site, and what takes long
#   fuzz              12,000 damaged and hostile files: results/fuzz.json
#   soak              commands killed 100 times at random moments and resumed: 9 minutes
# make test-oldest    the library's tests with the lowest versions that pyproject.toml admits
# make gpu-test       kernels, every protocol, resume and evaluation on a GPU: 4.5 minutes
#
# A part installs what it needs: Python packages with pip, Debian packages as root, npm's beside the
# page. Tests of what cannot be installed skip and say why.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PYTEST := OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest
PARALLEL := --numprocesses 2 --dist loadfile --no-loadscope-reorder
SOURCES := src paper tests benchmarks tools docs/gallery

.NOTPARALLEL:
.PHONY: demo test test-all test-page test-circuits test-cluster test-paper test-slow
.PHONY: test-oldest docs fuzz soak gpu-test lint page page-unit-tests clean

demo: $(VENV)/installed
	$(BIN)/entrain train digits

test: $(VENV)/installed-dev lint
	$(PYTEST) $(PARALLEL)

test-all: test test-page test-circuits test-cluster test-paper test-slow fuzz soak

test-page: $(VENV)/installed-dev $(VENV)/installed-test-page
	@sh tools/programs.sh npm chromium firefox-esr
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory page-unit-tests; fi
	$(PYTEST) $(PARALLEL) tests/page

test-circuits: $(VENV)/installed-dev $(VENV)/installed-onnx
	@sh tools/programs.sh ngspice iverilog verilator yosys nextpnr-ice40
	$(PYTEST) tests/circuits tests/test_export_folders.py

test-cluster: $(VENV)/installed-dev $(VENV)/installed-cluster
	$(PYTEST) tests/cluster paper/tests/test_ray_engine.py

test-paper: $(VENV)/installed-dev $(VENV)/installed-bench
	$(PYTEST) $(PARALLEL) -c paper/pyproject.toml --ignore paper/tests/test_ray_engine.py paper/tests

test-slow: $(VENV)/installed-dev $(VENV)/installed-docs $(VENV)/installed-cluster $(VENV)/installed-ising
	$(PYTEST) $(PARALLEL) -m "slow or not slow" tests/slow tests/test_ising_dimod.py
	$(PYTEST) $(PARALLEL) -m slow tests tests/page tests/circuits tests/cluster paper/tests

# In an environment of its own. On a machine without CUDA the oldest PyTorch brings its libraries along,
# several gigabytes: TORCH=2.13.0 takes that one. Tested with it and Python 3.11; with 2.5.1 kernels and training alone.
test-oldest:
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(PYTHON) tools/oldest_versions.py $(if $(TORCH),torch==$(TORCH)) >$(VENV)-oldest/constraints.txt
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	    --constraint $(VENV)-oldest/constraints.txt --editable ".[dev,onnx,cluster]" --editable ./paper
	OMP_WAIT_POLICY=passive $(VENV)-oldest/bin/python -m pytest $(PARALLEL)
	OMP_WAIT_POLICY=passive $(VENV)-oldest/bin/python -m pytest tests/cluster paper/tests/test_ray_engine.py

docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	$(BIN)/python tools/docs_site/check.py site
	@echo "open site/index.html; the search needs a server: $(BIN)/python -m http.server --directory site"

fuzz: $(VENV)/installed-dev
	PYTHONPATH=tests $(BIN)/python -m fuzzing --mutants 12000 --out results/fuzz.json

# Commands killed at random moments and started again end with the same bits.
soak: $(VENV)/installed-dev
	$(BIN)/python tests/slow/soak.py

# On a machine with a GPU, with the PyTorch that is there: nothing is installed.
gpu-test:
	PYTHONPATH=src:paper:tests $(PYTHON) tests/gpu_check.py

lint: $(VENV)/installed-dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

# The web page of `entrain play`: `make page` builds it, into the package.
page: playground/node_modules/.package-lock.json
	cd playground && npm run --silent build

page-unit-tests: playground/node_modules/.package-lock.json
	cd playground && npm run --silent check && npm test --silent

# Not `npm ci`: it wants the optional packages of every platform in the lock file.
playground/node_modules/.package-lock.json: playground/package.json playground/package-lock.json
	cd playground && npm install --no-save --silent --no-audit --no-fund
	@touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing entrain into $(VENV) (a few minutes the first time)"
	$(PIP) --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml paper/pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing entrain, the paper and development tools into $(VENV) (a few minutes the first time)"
	$(PIP) --editable ".[dev]" --editable ./paper
	@touch $@ $(VENV)/installed

# An extra of the package. Without it tests skip, so a package index that lacks it is no failure.
$(VENV)/installed-%: pyproject.toml constraints.txt | $(VENV)/installed-dev
	@echo "installing the extra $*"
	@if $(PIP) --editable ".[$*]"; then touch $@; else echo "SKIPPED: tests that need the extra $*"; fi

$(VENV)/installed-bench: paper/pyproject.toml constraints.txt | $(VENV)/installed-dev
	@echo "installing the libraries that entrain bench compares with"
	@if $(PIP) --editable . --editable "./paper[bench]"; then touch $@; \
	else echo "SKIPPED: tests that need the extra bench of the paper"; fi

clean:
	rm -rf $(VENV) $(VENV)-oldest build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
