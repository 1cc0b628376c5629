#!/usr/bin/env bash
# Becomes the kernel. At `reboot` the kernel starts the program of its own first argument anew, which is this script: it closes
# the link and the disk, which the kernel leaves open and could not open twice.
#   kernel.sh ARGUMENT...
for open in /proc/$$/fd/*; do
  number=${open##*/}
  [ "$number" -le 2 ] || [ "$number" -eq 255 ] || eval "exec $number>&-"
done
exec -a "$0" linux.uml "$@"
