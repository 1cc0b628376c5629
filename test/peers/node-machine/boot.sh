#!/usr/bin/env bash
# Runs the machine, as the first process of namespaces of its own for processes and mounts: its end ends all of it.
#   boot.sh FOLDER MEMORY NUMBER HOSTNAME     FOLDER has disk.img; the machine has the link tapNUMBER and the address 10.0.NUMBER.2
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1 memory=$2 number=$3 hostname=$4
# The memory of the machine is a file, which must lie in memory, and where programs may be run.
export TMPDIR=/dev/shm
rm -rf "$folder/machine"
# Not by exec: process 1 of a namespace cannot send itself every signal.
"$here/kernel.sh" mem="$memory" ubd0="$folder/disk.img" root=/dev/ubda rw quiet con=null con0=fd:0,fd:1 umid=machine uml_dir="$folder/" \
  vec0:transport=tap,ifname="tap$number",depth=128,gro=1 systemd.unified_cgroup_hierarchy=1 \
  systemd.hostname="$hostname" machine.link="10.0.$number"
