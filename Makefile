# The verbs of a contributor. Each is one command that can be typed without make, too.
.DEFAULT_GOAL := help
.PHONY: help init test full lint types layers docs bench chaos torture pin clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

init: ## install everything a contributor needs into .venv
	uv sync --all-groups

test: ## the tests, as CI runs them
	uv run pytest

full: ## all tests, the slow ones too, with fresh random examples
	uv run pytest -m "" --hypothesis-profile=fresh

lint: ## put style and imports right, and say what is left to do by hand
	uv run ruff check --fix
	uv run ruff format

types: ## mypy, strict
	uv run mypy

layers: ## imports only point down
	uv run lint-imports --no-logo

docs: ## the documentation, into docs/_build/html
	uv run --group docs sphinx-build -W --keep-going docs docs/_build/html

bench: ## time everything (benchmarks/*.md, half an hour), and what is marked as a benchmark
	uv run benchmarks/bench_engine.py > benchmarks/RESULTS.md
	uv run benchmarks/bench_linear.py > benchmarks/LINEAR.md
	uv run benchmarks/bench_thompson.py > benchmarks/THOMPSON.md
	uv run benchmarks/bench_policies.py > benchmarks/POLICIES.md
	uv run benchmarks/bench_live.py > benchmarks/LIVE.md
	uv run benchmarks/bench_ledger.py > benchmarks/LEDGER.md
	uv run benchmarks/bench_leases.py > benchmarks/LEASES.md
	uv run benchmarks/bench_recovery.py > benchmarks/RECOVERY.md
	uv run benchmarks/bench_costs.py > benchmarks/COSTS.md
	uv run benchmarks/bench_peers.py > benchmarks/PEERS.md
	uv run benchmarks/bench_scale.py > benchmarks/SCALE.md
	uv run benchmarks/bench_long.py > benchmarks/LONG.md
	uv run benchmarks/plot.py
	uv run pytest -m "" -n 0 --benchmark-enable --benchmark-only

chaos: ## let loose on live experiments for five minutes, and audit what they acknowledged
	uv run scripts/chaos.py

torture: ## faults, killed processes and planted bugs, into docs/reliability.md (most of a day)
	uv run scripts/reliability.py

pin: ## after a change of dependencies (UPGRADE=1: move every pin to its newest release)
	uv run --no-project scripts/pin.py $(if $(UPGRADE),--upgrade)

clean: ## remove what tools made, .venv included
	rm -rf .venv .ci/venv uv.lock build dist docs/_build .benchmarks .hypothesis .*_cache
	find src torture tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
