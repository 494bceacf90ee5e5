# `make demo` and `make test` each set themselves up: Python >= 3.11, make and a package index are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
RUNS ?= 10

.PHONY: demo test whole quick costs seeds coverage mutants browser check hooks bench reliability proofs checker reproduce docs site sbom versions lock clean help

help:
	@echo "make demo         publish findings from a real survey (examples/anes96.csv)"
	@echo "make test         run the tests: some cases of every test function but the slowest, in a few minutes"
	@echo "make whole        run every test but those of make check, which takes half an hour"
	@echo "make quick        run a part of every room, in less than a minute on two processors"
	@echo "make seeds        run every test RUNS times (10), each time with a fresh random seed, which is printed"
	@echo "make coverage     show that tests take every branch of the exact core, room by room"
	@echo "make mutants      plant small mistakes in the exact core, and see its tests notice (docs/mutants.md)"
	@echo "make browser      open every page in Chromium with the network off; pictures in build/screenshots"
	@echo "make costs        measure what make quick goes by"
	@echo "make check        lint, types, layers, docs, the README with the built wheel"
	@echo "make hooks        let git run the checks before each commit"
	@echo "make bench        measure against peers, side by side: build/bench/bench.json, docs/benchmarks.md"
	@echo "make reliability  run every test with its whole sweeps, which stand behind the promises"
	@echo "make proofs       check the formal proofs with Coq, from scratch (installs Debian's packages where root)"
	@echo "make checker      build the verified checker of mechanism files (build/checker/iris-check)"
	@echo "make reproduce    recompute what the works behind Iris print, into build/reproduce"
	@echo "make versions     run quick tests, and the README on the built wheel, with the newest and the oldest packages"
	@echo "make sbom         write a bill of materials to build/sbom.json"
	@echo "make docs         rebuild the generated parts of the documentation"
	@echo "make site         make the manual, strictly: no warning, no broken link (build/site/index.html)"

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Iris needs Python 3.11 or newer")'
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || \
	  { rm -rf $(VENV) && $(PYTHON) -m pip install --quiet --user virtualenv && $(PYTHON) -m virtualenv --quiet $(VENV); }

$(VENV)/.runtime: requirements/runtime.txt pyproject.toml | $(VENV)/bin/python
	@echo "installing Iris into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements/runtime.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.develop: requirements/develop.txt $(VENV)/.runtime
	@echo "installing the tools for tests and checks …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements/develop.txt
	@touch $@

demo: $(VENV)/.runtime
	@$(BIN)/python examples/demo.py

# What reads the project's own text, or needs the built wheel: `make check` runs it, and `make test` does not.
HOUSE := $(patsubst %,tests/unit/test_%.py,architecture docstrings package plain_words proofs readme references)

# Which cases, and which wait for `make whole`, is said and decided in tests/support/parts.py.
test: $(VENV)/.develop
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --part test $(addprefix --ignore=,$(HOUSE))

whole: $(VENV)/.develop
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(addprefix --ignore=,$(HOUSE))

# Without what takes long to set up (Spark's virtual machine, every command and every golden document at once), and without
# pytest's rewriting of every assertion in every process: `pytest NAME` of a failed test shows the values.
quick: $(VENV)/.develop
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --part quick --assert=plain --ignore=tests/spark \
	  --ignore=tests/golden/test_version_0_2.py --ignore=tests/unit/test_streams.py

# What `make quick` goes by; measure again when tests have become much faster or slower.
costs: $(VENV)/.develop
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --measure-costs

# Chromium is Debian's; where it is missing and may not be installed, each test is skipped by name.
browser: $(VENV)/.develop $(VENV)/.site
	tests/browser/run.sh $(BIN)/python

# The seed reaches Hypothesis and, as IRISDP_TEST_SEED, every generator of tests/support; a failure names it.
seeds: $(VENV)/.develop
	@for run in $$(seq $(RUNS)); do \
	  seed=$$($(BIN)/python -c "import secrets; print(secrets.randbits(32))"); \
	  echo "run $$run of $(RUNS), seed $$seed"; \
	  env -u CI IRISDP_TEST_SEED=$$seed $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --hypothesis-seed=$$seed \
	    || exit 1; \
	done

# Each room of the exact core by its own tests; tests/support/rooms.py says which.
coverage: $(VENV)/.develop
	$(BIN)/python tests/support/rooms.py --jobs $(JOBS)

# By lot, the same at every run; so many of each module. `python tests/support/mutants.py privacy` plants every one.
MISTAKES ?= privacy=12 _exact=12 mechanisms=7 _sampling=5 certify=2
mutants: $(VENV)/.develop
	@missed=0; for lot in $(MISTAKES); do \
	  PYTHONPATH=tests $(BIN)/python tests/support/mutants.py $${lot%=*} --number $${lot#*=} --jobs $(JOBS) || missed=1; \
	done; exit $$missed

check: $(VENV)/.develop
	$(BIN)/ruff format --check src tests benchmarks examples docs formal
	$(BIN)/ruff check src tests benchmarks examples docs formal
	$(BIN)/mypy
	$(BIN)/python -m pytest -n $(JOBS) $(HOUSE)
	$(BIN)/python -m pytest -n 0 --doctest-modules src --ignore=src/irisdp/__main__.py

hooks: $(VENV)/.develop
	$(BIN)/pre-commit install

bench: $(VENV)/.develop
	$(BIN)/python benchmarks/run.py
	$(BIN)/python docs/benchmarks.py --take build/bench/bench.json

# `make test` tries a fixed part of the long sweeps (tests/support/sweeps.py); here they are whole, and other long checks
# follow (`make reliability STAGES=fuzz,clock` runs some alone). How long it took is said in docs/reliability.md.
# PostgreSQL, Coq and OCaml are Debian's, installed where they are missing and may be; elsewhere each test that needs
# a server or the verified checker is skipped by name.
reliability: $(VENV)/.develop
	$(BIN)/python tests/support/postgresql.py
	-$(BIN)/python formal/make_checker.py
	$(BIN)/python tests/support/reliability.py --jobs $(JOBS) $(if $(STAGES),--only $(STAGES))

# Needs no Python package, and nothing of it runs in `make check` or `make test` but a reading of the files.
proofs:
	$(PYTHON) formal/prove.py --jobs $(JOBS)

checker:
	$(PYTHON) formal/make_checker.py

reproduce: $(VENV)/.develop
	$(BIN)/irisdp reproduce --out build/reproduce --force

docs: $(VENV)/.develop
	@for program in docs/*.py; do echo "== $$program"; $(BIN)/python $$program || exit 1; done

# A bill of materials of what `pip install irisdp[all]` brings, with the versions that are tested together.
sbom: $(VENV)/.develop
	@rm -rf build/handed-out && $(BIN)/uv venv --quiet build/handed-out
	@$(BIN)/uv pip install --quiet --python build/handed-out/bin/python --constraint requirements/develop.txt ".[all]"
	$(BIN)/uv tool run --quiet --from cyclonedx-bom==7.5.0 cyclonedx-py environment build/handed-out/bin/python \
	  --pyproject pyproject.toml --output-reproducible --output-format JSON --output-file build/sbom.json

# The quick tests with every Python from 3.11 on that is here or can be had, with the newest packages of today and with the
# oldest that are allowed; and the README typed with the built wheel.
versions: $(VENV)/.develop
	tests/versions.sh $(BIN)/uv

# Sphinx and its theme are for this alone: `make test` installs none of it.
$(VENV)/.site: requirements/site.txt $(VENV)/.runtime
	@echo "installing the tools that make the manual …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements/site.txt
	@touch $@

site: $(VENV)/.site
	$(BIN)/python docs/site/build.py

# UPGRADE=--upgrade takes the newest release of everything, where pins are else kept.
UPGRADE ?=
lock: $(VENV)/.develop
	$(BIN)/uv pip compile --quiet $(UPGRADE) --universal --no-header --no-annotate --python-version 3.11 --no-emit-index-url \
	  --extra build pyproject.toml --output-file requirements/runtime.txt
	$(BIN)/uv pip compile --quiet $(UPGRADE) --universal --no-header --no-annotate --python-version 3.11 --no-emit-index-url \
	  $(addprefix --extra ,all test browser build check bench lock) --constraint requirements/runtime.txt \
	  pyproject.toml --output-file requirements/develop.txt
	$(BIN)/uv pip compile --quiet $(UPGRADE) --universal --no-header --no-annotate --python-version 3.11 --no-emit-index-url \
	  --extra site --constraint requirements/develop.txt pyproject.toml --output-file requirements/site.txt

clean:
	rm -rf $(VENV) build dist
