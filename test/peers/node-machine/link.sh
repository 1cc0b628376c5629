#!/usr/bin/env bash
# Makes the link of a machine in this process's own network, tells so, and holds the network until this process ends.
# What runs in it is the machine's outside, 10.0.NUMBER.1; the machine is 10.0.NUMBER.2. Several machines may have their links in one
# network: they reach each other through it.
#   link.sh NUMBER [RANGE]     the RANGE of addresses, that of the machine's pods, is found through the machine
set -euo pipefail
number=$1 range=${2:-}
ip link set lo up
ip tuntap add "tap$number" mode tap
ip address add "10.0.$number.1/24" dev "tap$number"
ip link set "tap$number" up
[ -z "$range" ] || ip route add "$range" via "10.0.$number.2"
echo 1 > /proc/sys/net/ipv4/ip_forward
echo ready
exec sleep infinity
