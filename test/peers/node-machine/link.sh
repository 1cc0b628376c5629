#!/usr/bin/env bash
# Makes the link of a machine in this process's own network, tells so, and holds the network until this process ends.
# What runs in it is the machine's outside, 10.0.2.1; the machine is 10.0.2.2.
set -euo pipefail
ip link set lo up
ip tuntap add tap0 mode tap
ip address add 10.0.2.1/24 dev tap0
ip link set tap0 up
echo ready
exec sleep infinity
