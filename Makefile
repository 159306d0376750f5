# One word for each thing that one does here. Needs Python 3.10 or newer; .venv is made if missing.
PYTHON ?= python3
BIN = .venv/bin
READY = .venv/ready

.PHONY: demo test lint types docs bench ci clean

demo: $(READY)
	$(BIN)/pollwait demo

test: $(READY)
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(READY)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

bench: $(READY)
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	$(BIN)/python bench/overhead.py
	$(BIN)/python bench/import_time.py
	$(BIN)/python bench/memory.py
	$(BIN)/python bench/sleepers.py
	$(BIN)/python bench/virtual_hour.py
	$(BIN)/python bench/batcher.py
	$(BIN)/python bench/group.py
	$(BIN)/python bench/group_model.py
	$(BIN)/python bench/shared_calls.py
	$(BIN)/python bench/seed_table.py
	$(BIN)/python bench/over_http.py
	$(BIN)/python bench/latency_families.py
	$(BIN)/python bench/learning.py
	$(BIN)/python bench/aws_waiters.py
	$(BIN)/python bench/aws_threads.py
	$(BIN)/python bench/retry_modes.py

ci:
	.ci/run

clean:
	rm -rf .venv build dist docs/_build .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@
