#!/usr/bin/env bash
# One command: sets up .venv and takes a pull request through the whole gate on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh demo
exec .venv/bin/gatebot demo "$@"
