#!/usr/bin/env bash
# Play one kind: play.sh KIND SEED COUNT OUT_FILE [PLAYS]; ORACLE: the test binary. Cases that two plays see differently are left out.
set -euo pipefail
kind=$1 seed=$2 count=$3 out=$4 plays=${5:-5}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/generate.py" "$kind" "$seed" "$count" > "$work/in"
for play in $(seq "$plays"); do
  ORACLE_IN=$work/in ORACLE_OUT=$work/play$play "$ORACLE" -test.run '^TestOracle$' -test.timeout 20m > "$work/log" 2>&1 || { tail -60 "$work/log"; exit 1; }
done
for play in $(seq 2 "$plays"); do
  cmp -s "$work/play1" "$work/play$play" || paste "$work/play1" "$work/play$play" | awk -F '\t' '$1 != $2 { print NR }'
done | sort -un > "$work/unstable"
awk -v list="$work/unstable" 'BEGIN { while ((getline n < list) > 0) skip[n] } !(NR in skip)' "$work/play1" > "$work/stable"
gzip -9nc "$work/stable" > "$out"
echo "$kind $seed: $(wc -l < "$work/stable") of $count, $(stat -c %s "$out") bytes"
