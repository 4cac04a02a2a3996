#!/usr/bin/env bash
# One command: sets up .venv and runs lint, types and every test. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh test
scripts/tools.sh
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 PATH="$PWD/.venv/bin:$PATH"
if [ "$#" -eq 0 ]; then
  ruff check .
  ruff format --check .
  mypy bot hyper_parallel
fi
if [ "$#" -eq 0 ]; then
  # Two at a time: most tests wait for processes of their own.
  exec pytest -n 2
fi
exec pytest "$@"
