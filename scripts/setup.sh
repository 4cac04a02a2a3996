#!/usr/bin/env bash
# Makes or refreshes .venv at the project's root. Usage: scripts/setup.sh demo|test
# "demo" installs what the service needs; "test" adds both frameworks, the linters and the test tools.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-test}
case "$what" in
demo) extras="" ;;
test) extras="[all,dev]" ;;
*) echo "usage: scripts/setup.sh demo|test" >&2; exit 2 ;;
esac

python=""
for candidate in python3.11 python3 python; do
  if command -v "$candidate" >/dev/null 2>&1 &&
    "$candidate" -c 'import sys; raise SystemExit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "Python 3.11 is needed (python3.11 on PATH). On Debian 12: apt-get install python3 python3-venv" >&2
  exit 2
fi

stamp=.venv/.installed-$what
wanted=$(cat pyproject.toml config/constraints.txt scripts/setup.sh | git hash-object --stdin)
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
  exit 0
fi

if [ ! -x .venv/bin/python ] && ! "$python" -m venv .venv; then
  echo "Could not make .venv. On Debian 12: apt-get install python3-venv" >&2
  exit 2
fi

echo "Installing the packages for '$what' into .venv ..." >&2
if [ "$what" = test ]; then
  # Alone and first, so that no other package's range pulls in an accelerator build of several gigabytes.
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -c config/constraints.txt torch==2.13.0
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check -c config/constraints.txt -e ".$extras"
echo "$wanted" >"$stamp"
