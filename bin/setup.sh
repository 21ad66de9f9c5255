#!/usr/bin/env bash
# Installs and builds what is missing, and nothing that is there already.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=node_modules/.headgate-installed
if [ ! -f "$stamp" ] || ! cmp -s package-lock.json "$stamp"; then
  echo "installing packages …" >&2
  npm ci --no-audit --no-fund --loglevel=error >&2
  cp package-lock.json "$stamp"
fi
if [ ! -f dist/.built ] || [ -n "$(find src workers tsconfig.json package.json -newer dist/.built -print -quit)" ]; then
  echo "building …" >&2
  rm -rf dist
  npx --no-install tsc -p tsconfig.json
  touch dist/.built
fi
