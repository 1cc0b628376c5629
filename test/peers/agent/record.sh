#!/usr/bin/env bash
# Record all kinds (or those named) for one seed: record.sh SEED LABEL OUT_DIR [KIND...]; ORACLE: the test binary.
# Writes OUT_DIR/KIND-LABEL.jsonl.gz.
set -euo pipefail
seed=$1 label=$2 out=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
for kind in ${*:-config manifest refs refNames mirror workers phase statuses backoff probe eviction}; do
  count=320 plays=${PLAYS:-5}
  # client-go's waits between failed lists are random; thresholds of the eviction manager come in a map's order
  case $kind in refs | eviction) plays=${PLAYS:-25} ;; esac
  case $kind in manifest | refNames | phase | statuses) count=1000 ;; esac
  "$here/play.sh" "$kind" "$seed" "$count" "$out/$kind-$label.jsonl.gz" "$plays"
done
