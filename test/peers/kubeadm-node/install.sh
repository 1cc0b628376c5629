#!/usr/bin/env bash
# Runs inside a node machine, as root: makes it a machine that `kubeadm init` and `kubeadm join` find ready, with the agent in the kubelet's place.
#   install.sh BIN IMAGES.tar KUBEADM NODE KUBELET.mjs DRIVER
# DRIVER is systemd, which kubeadm sets up by itself, or cgroupfs.
# All of it is copied to the machine's own disk: the folders of the machine outside come only after a boot.
set -euo pipefail
bin=$1 images=$2 kubeadm=$3 node=$4 agent=$5 driver=$6

cp "$bin"/{containerd,containerd-shim-runc-v2,ctr,kubectl} "$kubeadm" "$node" /usr/local/bin/
mkdir -p /opt/cni/bin /etc/cni/net.d /opt/node-agent /etc/containerd /etc/kubernetes/manifests
cp "$bin"/cni/* /opt/cni/bin/
cp "$agent" /opt/node-agent/kubelet.mjs
cat > /usr/bin/kubelet << 'END'
#!/bin/sh
exec /usr/local/bin/node --max-old-space-size=128 --max-semi-space-size=2 /opt/node-agent/kubelet.mjs "$@"
END
chmod +x /usr/bin/kubelet

cat > /etc/containerd/config.toml << END
version = 3
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = 'registry.k8s.io/pause:3.10.2'
[plugins.'io.containerd.cri.v1.runtime'.cni]
  conf_template = '/etc/containerd/network.template'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'
  options.SystemdCgroup = $([ "$driver" = systemd ] && echo true || echo false)
END
# There is a network for pods once the agent has told the runtime the range that kube-controller-manager gave the node.
cat > /etc/containerd/network.template << 'END'
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "/run/cni", "ranges": [[{"subnet": "{{.PodCIDR}}"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
cat > /etc/systemd/system/containerd.service << 'END'
[Unit]
After=network.target
[Service]
Type=notify
ExecStart=/usr/local/bin/containerd
Delegate=yes
KillMode=process
Restart=always
LimitNOFILE=1048576
TimeoutStartSec=600
OOMScoreAdjust=-999
[Install]
WantedBy=multi-user.target
END

# The unit of the package kubelet, and the drop-in of the package kubeadm, with their settings.
cat > /etc/systemd/system/kubelet.service << 'END'
[Unit]
Description=kubelet: The Kubernetes Node Agent
Wants=network-online.target
After=network-online.target
[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10
[Install]
WantedBy=multi-user.target
END
mkdir -p /etc/systemd/system/kubelet.service.d
cat > /etc/systemd/system/kubelet.service.d/10-kubeadm.conf << 'END'
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
END

cat > /etc/kubernetes/kubeadm.yaml << 'END'
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: 10.0.2.2}
nodeRegistration: {criSocket: "unix:///run/containerd/containerd.sock", taints: []}
# a system call takes a hundred times as long as on a usual machine
timeouts: {controlPlaneComponentHealthCheck: 40m, kubeletHealthCheck: 20m, kubernetesAPICall: 10m, tlsBootstrap: 20m}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.36.3
networking: {podSubnet: 198.51.100.0/24, serviceSubnet: 203.0.113.0/24}
# an etcd that counts a slow machine's silence as the end of its leader never comes to rest
etcd: {local: {extraArgs: [{name: heartbeat-interval, value: "1000"}, {name: election-timeout, value: "10000"}, {name: unsafe-no-fsync, value: "true"}]}}
apiServer: {extraArgs: [{name: etcd-healthcheck-timeout, value: 60s}]}
controllerManager: {extraArgs: [{name: leader-elect, value: "false"}, {name: node-cidr-mask-size, value: "25"}]}
scheduler: {extraArgs: [{name: leader-elect, value: "false"}]}
END
# without a driver in its configuration, kubeadm takes systemd
if [ "$driver" != systemd ]; then
  printf -- '---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: %s\n' "$driver" >> /etc/kubernetes/kubeadm.yaml
fi
systemctl daemon-reload
systemctl enable -q containerd kubelet
systemctl start containerd
ctr -n k8s.io images import --local "$images" > /dev/null || ctr -n k8s.io images import "$images" > /dev/null
systemctl start kubelet
