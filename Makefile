# make demo · make test · make bench — each sets up all it needs by itself, with nothing but Python 3.11 or later.

PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed
BIN := $(VENV)/bin
# Other queues are only needed for benchmarks.
BENCH := .venv-bench
# Five at a time, since tests often wait, each with a server of its own; the tests of one file stay together, in the
# order of tests/conftest.py. What is skipped is said.
PYTEST := $(BIN)/python -m pytest -rs --numprocesses 5 --dist loadfile --no-loadscope-reorder
# Where Debian puts it. By env and not by a shell, which would outlive a killed make, and keep the tests running.
SYSTEM_POSTGRES := $(wildcard /usr/lib/postgresql/15/bin)
# Hundreds of processes load the package: without bytecode each one compiles it again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all explore fuzz test-large test-deliveries test-api test-console test-figures test-reports test-broker test-guards check-deploy bench chaos soak core-size schemas docs client screenshots attack lint lock clean

# What can be made.
help:
	@awk '/^# /{told = substr($$0, 3); next} /^[a-z][a-z-]*:/{split($$1, name, ":"); printf "%-16s %s\n", name[1], told} {told = ""}' Makefile

# The local stack with jobs and documents that go through their life.
demo: $(STAMP)
	$(BIN)/tickwork demo

# Lint, and all tests but those that take long.
test: lint
	$(PYTEST) -m "not slow"

# The tests that take long, and most of those of the database once more, three cases of each, on a Postgres of the system.
test-all: $(STAMP)
	$(PYTEST) -m slow
ifneq ($(SYSTEM_POSTGRES),)
	env TICKWORK_TEST_BINARIES=$(SYSTEM_POSTGRES) TICKWORK_TEST_CASES=3 $(PYTEST) tests/database \
		$(foreach long,mutants model schedules isolation attacks attack_scripts,--ignore tests/database/test_$(long).py)
endif

# A thousand files and one of 2 GB, imported by a worker that is killed ten times. It needs 5 GB of room in TMPDIR.
test-large: $(STAMP)
	env TICKWORK_TEST_LARGE=1 $(BIN)/python -m pytest -s tests/families/imports/test_import_large.py

# What is slow or needs tools of others: the Supabase CLI, pg_cron, every bundle. What cannot be installed is skipped, with the reason.
check-deploy: $(STAMP)
	$(PYTEST) --durations 5 tests/deploy

# Further than the tests go: other sequences of verbs against the model, more orders of transactions and more cron expressions.
explore: $(STAMP)
	env TICKWORK_MODEL_EXAMPLES=$(or $(EXAMPLES),2000) TICKWORK_SCHEDULES=$(or $(SCHEDULES),0:20000) TICKWORK_CALENDAR=20000 \
		$(PYTEST) tests/database/test_calendar.py tests/database/test_model.py tests/database/test_schedules.py

# Such as make bench ARGS="--quick", or "--list", or "--only drain enqueue".
bench: $(BENCH)/.installed
	$(BENCH)/bin/python -m tickwork_bench $(ARGS)

# Ten thousand webhooks to receivers that fail three times out of ten, in some minutes; `make test` does it with a few hundred.
test-deliveries: $(STAMP)
	env TICKWORK_DELIVERIES=12500 $(BIN)/python -m pytest tests/families/webhook/test_many_deliveries.py

# The API with what its description allows and what it does not, as every kind of caller, new requests each time (EXAMPLES=20).
test-api: $(STAMP)
	env TICKWORK_API_EXAMPLES=$(or $(EXAMPLES),20) $(BIN)/python -m pytest -s tests/api/test_whole_api.py

# The console in a real browser. Installs Chromium where that is possible: as root on Debian.
test-console: $(STAMP)
	command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; }
	$(PYTEST) tests/browser tests/console

# A million jobs, a purge and twenty killed tickers: are the figures right, to the job? make test-figures ARGS=50000 takes fewer.
test-figures: $(STAMP)
	$(BIN)/python -m tests.database.figures_of_a_million $(ARGS)

# A report of a million jobs as CSV: the same totals as SQL, and how much memory it took. make test-reports ARGS=50000 takes fewer.
test-reports: $(STAMP)
	$(BIN)/python -m tests.families.report.report_of_a_million $(ARGS)

# A RabbitMQ on this machine with a real memory alarm, which blocks everybody who uses it for some seconds.
test-broker: $(STAMP)
	TICKWORK_TEST_BLOCKED_BROKER=1 $(BIN)/python -m pytest tests/waking/test_blocked_broker.py

# Guards broken on purpose, one after the other, each with the tests that must notice it.
test-guards: $(STAMP)
	$(BIN)/python -m pytest tests/security/guard_mutants.py

# The pictures of the console in the README. Needs Chromium.
screenshots: $(STAMP)
	$(BIN)/python infra/local/make_screenshots.py

EXAMPLES ?= 2000

# Foreign bytes for every parser, new ones each time; make fuzz EXAMPLES=100000 takes longer.
fuzz: $(STAMP)
	env TICKWORK_FUZZ_EXAMPLES=$(EXAMPLES) $(PYTEST) tests/fuzz

# How large the queue's core is: lines of its chapters, and how many SQL functions each of its verbs reaches.
core-size: $(STAMP)
	$(BIN)/python infra/local/count_core.py

# The migrations with the schemas of our own types, from the models of their handlers.
schemas: $(STAMP)
	$(BIN)/python infra/local/make_schemas.py

# The pages of docs/reference that are made from settings, command line and database, and what `tickwork --help` lists.
docs: $(STAMP)
	$(BIN)/python -m tickwork_docs

# The files of the clients that follow from others: from aio, the SQL functions and openapi.json.
client: $(STAMP)
	$(BIN)/python -m tickwork_client

# A member with a hundred thousand jobs against everybody else, for ten minutes; make attack ARGS=2 takes two.
attack: $(STAMP)
	$(BIN)/python -m tests.database.attack_for_minutes $(ARGS)

# Storms of faults over 50,000 jobs; such as make chaos ARGS="--quick", or "--list", "--mutants", "--binaries DIR".
chaos: $(STAMP)
	$(BIN)/python -m tickwork_chaos $(ARGS)

MINUTES ?= 30

# A steady load for so many minutes (MINUTES=30), and what grows meanwhile.
soak: $(STAMP)
	$(BIN)/python -m tickwork_chaos.soak --minutes $(MINUTES) $(ARGS)

# Style, types and imports.
lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy shared infra/local infra/gcp infra/bench/tickwork_bench infra/chaos/tickwork_chaos tests \
		$(wildcard functions/*/main.py infra/*/functions/*/main.py)
	$(BIN)/lint-imports

# The locks hold the exact versions and hashes of everything in pyproject.toml.
COMPILE := uv pip compile -q --universal --generate-hashes --no-annotate --no-header --python-version 3.11 pyproject.toml

# The files of exact versions, from pyproject.toml.
lock: $(STAMP)
	$(BIN)/$(COMPILE) --extra dev -o requirements.lock
	$(BIN)/$(COMPILE) --extra bench -o requirements-bench.lock
	$(BIN)/python infra/local/make_extras.py

$(STAMP): requirements.lock pyproject.toml
	$(call install,$(VENV),requirements.lock)

$(BENCH)/.installed: requirements-bench.lock pyproject.toml
	$(call install,$(BENCH),requirements-bench.lock)

define install
$(PYTHON) -m venv $(1)
$(1)/bin/python -m pip install --quiet --disable-pip-version-check uv
UV_COMPILE_BYTECODE=1 $(1)/bin/uv pip sync --quiet --python $(1)/bin/python $(2)
$(1)/bin/uv pip install --quiet --python $(1)/bin/python --no-deps --no-build-isolation --editable .
touch $@
endef

# Everything that make has made.
clean:
	rm -rf $(VENV) $(BENCH) .bench .cache .tickwork .tickwork-demo
