#!/usr/bin/env bash
# Play recorded files again and compare: replay.sh FILE.jsonl.gz...; ORACLE: the test binary. Says how many cases came out otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$@"; do
  gunzip -c "$file" > "$work/in"
  ORACLE_IN=$work/in ORACLE_OUT=$work/out "$ORACLE" -test.run '^TestOracle$' -test.timeout 20m > "$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
  echo "$(basename "$file"): $(paste "$work/in" "$work/out" | awk -F '\t' '$1 != $2' | wc -l) of $(wc -l < "$work/in") differ"
done
