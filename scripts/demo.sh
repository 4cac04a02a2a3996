#!/usr/bin/env bash
# One command: sets up .venv and takes a pull request through the whole gate on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh demo
.venv/bin/gatebot demo "$@"
# On standard error, so that the output of --json stays JSON.
cat >&2 <<'NEXT'

下一步 / next:
  source .venv/bin/activate                              # 之后可直接用 gatebot / makes gatebot a command
  gatebot --help                                         # 全部命令 / all commands
  gatebot config check --config config/gatebot.example.yaml
  bash scripts/test.sh                                   # 全部测试 / every test
  docs/operate.md                                        # 部署与运维 / running it as a service
NEXT
