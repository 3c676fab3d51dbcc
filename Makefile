# make demo shows it, make test says in about three minutes whether a change broke something, make check says everything.
# Each makes .venv and installs what it needs; only Python >= 3.11 is asked for.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test check check-slow check-rest system thorough lint types wheel-test bundle vectors notebook screenshots bench proof clean

# In an environment of its own: only what running takes, about 290 MB.
demo: .venv-demo/.installed
	.venv-demo/bin/deniable demo

.venv-demo/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[server]'
	@touch $@

# What a change usually breaks: tests/protocol, client, javascript and server. No services, few examples per property.
test: $(VENV)/.installed
	$(PYTEST) -n auto --dist worksteal

# All the rest that CI asks for. Two at a time: much of it waits for servers and browsers.
check: $(VENV)/.installed
	$(MAKE) --jobs 2 --output-sync=target check-slow check-rest

check-slow: system
check-rest: lint types wheel-test thorough

# Whole systems: processes, PostgreSQL, Spark, proxies, browsers, planted faults, and the proofs at the size of a test.
system: $(VENV)/.installed
	$(PYTEST) -n 2 --dist loadgroup --durations=40 tests/system tests/browser

# Properties on many examples, and grids in full.
thorough: $(VENV)/.installed
	$(PYTEST) --hypothesis-profile=thorough -m "hypothesis or grid"

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

# The documentation as a site with search, in site/. Warnings, such as a link to nowhere, are errors.
.PHONY: docs
docs: $(VENV)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "To read it:  $(BIN)/python -m http.server --directory site 8080  and open http://127.0.0.1:8080/"

# The wheel in a clean environment without extras, tested with the sources gone.
wheel-test: $(VENV)/.installed
	$(BIN)/python tests/wheel.py

# What the server sends to browsers, built from client/web/src; needs npm. A check compares it with what is committed.
bundle:
	cd client/web && npm ci --no-audit --no-fund --ignore-scripts && npm run --silent build

vectors: $(VENV)/.installed
	$(BIN)/python shared/vectors/generate.py

# docs/notebook.ipynb, executed on a real server, with what its cells give.
notebook: $(VENV)/.installed
	$(BIN)/python -m tests.helpers.analysis

# The pictures of the documentation, taken by the tests; needs Chromium.
screenshots: $(VENV)/.installed
	mkdir -p docs/screenshots
	DENIABLE_REQUIRE_ALL=1 DENIABLE_SCREENSHOTS=docs/screenshots $(PYTEST) -q tests/browser -k screenshots

# Some compare Deniable with other libraries, each of which may or may not install; the benchmark says which did not.
# A few hours. The last one needs Java. What each found is in figures/, as JSON.
bench: $(VENV)/.installed
	mkdir -p figures
	$(BIN)/python bench/peers.py
	$(BIN)/python bench/randomize.py --json figures/randomize.json
	$(BIN)/python bench/tokens.py --json figures/tokens.json
	$(BIN)/python bench/coverage.py --fine --json figures/coverage.json
	$(BIN)/python bench/real_coverage.py --json figures/real_coverage.json
	$(BIN)/python bench/accuracy.py --json figures/accuracy.json
	$(BIN)/python bench/distribution.py --json figures/distribution.json
	$(BIN)/python bench/design.py --json figures/design.json
	$(BIN)/python bench/live_plan.py --json figures/live_plan.json
	$(BIN)/python bench/panel.py --json figures/panel.json
	$(BIN)/python bench/templates.py --json figures/templates.json
	$(BIN)/python bench/joint_coverage.py --json figures/joint_coverage.json
	$(BIN)/python bench/joint_accuracy.py --json figures/joint_accuracy.json
	$(BIN)/python bench/anytime.py --json figures/anytime.json
	$(BIN)/python bench/regression.py --json figures/regression.json
	$(BIN)/python bench/many_options.py --json figures/many_options.json
	$(BIN)/python bench/fakes.py --json figures/fakes.json
	$(BIN)/python bench/estimating.py --json figures/estimating.json
	$(BIN)/python bench/estimating.py --page --json figures/dashboard.json
	$(BIN)/python bench/serve.py --json figures/serve.json
	$(BIN)/python bench/servers.py --json figures/servers.json
	$(BIN)/python bench/exports.py --json figures/exports.json

# What is promised under crashes, power cuts, faults, hostile input and attack, at full size: hours.
# PROOFS="crash power" for some.
proof: $(VENV)/.installed
	mkdir -p figures
	$(BIN)/python -m proofs $(PROOFS) --json figures/proof.json

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Deniable needs Python 3.11 or newer; this is $$($(PYTHON) --version). Set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) .venv-demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
