#!/usr/bin/env bash
# Makes a node of the machine, but for its agent: containerd of the node kit as a unit of systemd, with the test images and a network.
#   runtime.sh DRIVER [MIRROR]    inside; DRIVER is cgroupfs or systemd. The programs are those that ../node-kit/build.sh made. Images are
#                                 pulled from MIRROR, an address with its port; without one there is nothing to pull.
set -euo pipefail
driver=$1 mirror=${2:-}
# by the path that is there before any connection, so that containerd starts with the machine
kit=/outside$(realpath "${XDG_CACHE_HOME:-$HOME/.cache}")/node-kit
mkdir -p /etc/containerd/mirrors /etc/cni/net.d /var/lib/kubelet
cat > /etc/cni/net.d/10-bridge.conflist << END
{"cniVersion": "1.0.0", "name": "machine", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "198.51.100.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}, "snat": true}]}
END
update-alternatives --quiet --set iptables /usr/sbin/iptables-legacy
update-alternatives --quiet --set ip6tables /usr/sbin/ip6tables-legacy
sysctl -q net.bridge.bridge-nf-call-iptables=1
if [ -n "$mirror" ]; then
  for registry in $(cut -d/ -f1 "$kit/images/names.txt" | sort -u); do
    mkdir -p "/etc/containerd/mirrors/$registry"
    printf '[host."http://%s"]\n  capabilities = ["pull", "resolve"]\n' "$mirror" > "/etc/containerd/mirrors/$registry/hosts.toml"
  done
fi
runtime() {
  printf "  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.%s]\n    runtime_type = 'io.containerd.runc.v2'\n" "$1"
  printf '    options.SystemdCgroup = %s\n' "$([ "$driver" = systemd ] && echo true || echo false)"
}
cat > /etc/containerd/config.toml << END
version = 3
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '$(grep -m1 /pause: "$kit/images/names.txt")'
[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = '/etc/containerd/mirrors'
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['$kit/bin/cni']
$(runtime runc)
$(runtime test-handler)
END
cat > /etc/systemd/system/containerd.service << END
[Service]
Environment=PATH=$kit/bin:/usr/sbin:/usr/bin
ExecStart=$kit/bin/containerd
Type=notify
Delegate=yes
KillMode=process
OOMScoreAdjust=-999
[Install]
WantedBy=multi-user.target
END
systemctl daemon-reload
systemctl enable -q --now containerd
ctr=("$kit/bin/ctr" -n k8s.io images import)
"${ctr[@]}" --local "$kit/images/images.tar" > /var/log/import.log 2>&1 || "${ctr[@]}" "$kit/images/images.tar" >> /var/log/import.log 2>&1
