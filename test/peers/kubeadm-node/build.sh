#!/usr/bin/env bash
# Builds kubeadm, and the images that it starts a control plane from, of the programs of the node kit. A later call does nothing.
# Result: $CACHE/bin/kubeadm, $CACHE/kubeadm/images.tar. Needs test/peers/node-kit/build.sh before it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../node-kit/lib/common.sh"
mkdir -p "$CACHE/kubeadm" "$CACHE/stamps"
exec 9> "$CACHE/kubeadm/lock"
flock 9
kube=$(cd "$here/go" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
want=$( (cat "$here"/go/go.{mod,sum}; go version) | sha256sum)
if [ ! -x "$BIN/kubeadm" ] || [ "$(cat "$CACHE/stamps/kubeadm" 2> /dev/null)" != "$want" ]; then
  echo "kubeadm $kube ..."
  minor=${kube#v1.} v=k8s.io/component-base/version
  (cd "$here/go" && CGO_ENABLED=0 GOFLAGS=${GOFLAGS:--buildvcs=false} nice go build -trimpath -o "$BIN/kubeadm" \
    -ldflags "-s -w -X $v.gitVersion=$kube -X $v.gitMajor=1 -X $v.gitMinor=${minor%%.*} -X $v.gitTreeState=clean" k8s.io/kubernetes/cmd/kubeadm)
  echo "$want" > "$CACHE/stamps/kubeadm"
fi
want=$(cat "$here/build-images.mjs" "$CACHE"/stamps/{etcd,kube-apiserver,kube-controller-manager,kube-scheduler,kube-proxy,pause,kubeadm} | sha256sum)
if [ "$(cat "$CACHE/stamps/kubeadm-images" 2> /dev/null)" != "$want" ]; then
  "$BIN/kubeadm" config images list --kubernetes-version "$kube" 2> /dev/null > "$CACHE/kubeadm/names.txt"
  node "$here/build-images.mjs" --bin "$BIN" --names "$CACHE/kubeadm/names.txt" --out "$CACHE/kubeadm/images.tar"
  echo "$want" > "$CACHE/stamps/kubeadm-images"
fi
