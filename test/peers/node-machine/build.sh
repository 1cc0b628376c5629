#!/usr/bin/env bash
# Makes the disk image of the machine, once, and prints its path and that of the key that opens it: IMAGE KEY.
# Everything comes from Debian. What is missing on this machine is installed. One build at a time; a later call does nothing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pod-status-manager/node-machine
mkdir -p "$cache"
exec 9> "$cache/lock"
flock 9

say() { printf '[machine %3ss] %s\n' "$SECONDS" "$*" >&2; }
run() { "$@" > "$cache/build.log" 2>&1 || { tail -5 "$cache/build.log" >&2; exit 1; }; }

needed=(user-mode-linux mmdebstrap e2fsprogs iproute2 util-linux openssh-client)
missing=()
for name in "${needed[@]}"; do dpkg-query -W -f '${Status}' "$name" 2> /dev/null | grep -q 'ok installed' || missing+=("$name"); done
if [ ${#missing[@]} -gt 0 ]; then
  say "apt: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  run apt-get -o DPkg::Lock::Timeout=300 update
  run apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}"
fi

# The image has the name of what it is made of.
stamp=$({ cat "${BASH_SOURCE[0]}"; (cd "$here/image" && find . -type f | sort | xargs tail -v -n +1); ls /usr/lib/uml/modules; } | sha256sum | cut -c1-12)
image=$cache/$stamp.img key=$cache/$stamp.key
if [ ! -e "$image" ]; then
  say 'the disk image ...'
  work=$cache/work
  rm -rf "$work"
  mkdir "$work"
  trap 'rm -rf "$work"' EXIT
  root=$work/root
  ssh-keygen -q -t ed25519 -N '' -C node-machine -f "$work/key"

  # What a node has: systemd with logind, and what runtimes, agents and Kubernetes' own tests call.
  packages=(systemd systemd-sysv dbus openssh-server runc busybox-static kmod procps iproute2 iptables conntrack ethtool socat
    util-linux mount e2fsprogs nfs-common ca-certificates curl openssl netcat-openbsd libatomic1)
  # from where this machine has its own packages
  sources=/etc/apt/sources.list.d/debian.sources
  [ -e $sources ] || sources=/etc/apt/sources.list
  run mmdebstrap --quiet --variant=minbase --include="$(IFS=,; echo "${packages[*]}")" "$(. /etc/os-release; echo "$VERSION_CODENAME")" "$root" "$sources"

  cp -a --no-preserve=ownership "$here/image/." "$root/"
  mkdir -p "$root/lib/modules" "$root/outside" "$root/var/log/journal"
  cp -a /usr/lib/uml/modules/. "$root/lib/modules/"
  install -D -m 600 "$work/key.pub" "$root/root/.ssh/authorized_keys"
  run chroot "$root" systemctl enable machine-link.service machine-clock-speed.service
  # Devices, clocks, terminals and upkeep are not this machine's.
  run chroot "$root" systemctl mask systemd-udevd.service systemd-udev-trigger.service systemd-udevd-kernel.socket \
    systemd-udevd-control.socket systemd-timesyncd.service getty@tty1.service serial-getty@ttyS0.service console-getty.service \
    e2scrub_reap.service e2scrub_all.timer fstrim.timer apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer rpcbind.service rpcbind.socket

  # A journal keeps the disk whole when the machine is killed.
  truncate -s 16G "$work/disk"
  run mke2fs -q -t ext4 -J size=16 -E lazy_itable_init=1 -d "$root" "$work/disk"
  mv "$work/key" "$key"
  mv "$work/disk" "$image"
  # images that no one has used for long
  find "$cache" -maxdepth 1 \( -name '*.img' -o -name '*.key' \) -atime +14 -mtime +14 -delete
  say "the disk image: $(du -m "$image" | cut -f1) MiB"
fi
echo "$image $key"
