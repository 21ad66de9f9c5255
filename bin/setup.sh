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
  # Beside the old one, then in its place: what runs from there is not pulled from under its feet.
  rm -rf dist.new
  npx --no-install tsc -p tsconfig.json --outDir dist.new
  touch dist.new/.built
  rm -rf dist
  mv dist.new dist
fi
