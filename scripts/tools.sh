#!/usr/bin/env bash
# Installs the command-line tools that some tests drive for real, where they are missing and this user may install them.
set -euo pipefail
missing=()
for pair in shellcheck:shellcheck cppcheck:cppcheck chromium:chromium cmake:cmake g++:g++ make:make bwrap:bubblewrap; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing+=("${pair#*:}")
done
if ! command -v markdownlint-cli2 >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
  # Under /usr, since the sandbox of the checks hides home directories. Without npm its recipes say that the tool is missing.
  npm install --silent --global --prefix /usr/local markdownlint-cli2@0.22.1 >&2
fi
if [ "${#missing[@]}" -gt 0 ]; then
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing the tools ${missing[*]} ..." >&2
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "These tools are missing and the tests need them; install them first: ${missing[*]}" >&2
    exit 2
  fi
fi
