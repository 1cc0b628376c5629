package modern

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	harness "oracle-harness"
)

type volumesCase struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	cluster
	Pod *v1.Pod `json:"pod"`
}

type assumedVolume struct {
	Claim       string              `json:"claim"`
	Volume      string              `json:"volume"`
	ClaimRef    *v1.ObjectReference `json:"claimRef"`
	Annotations map[string]string   `json:"annotations,omitempty"`
}

type reserved struct {
	AllBound   bool            `json:"allBound,omitempty"`
	Bindings   []assumedVolume `json:"bindings,omitempty"`
	Provisions []string        `json:"provisions,omitempty"`
	Error      string          `json:"error,omitempty"`
}

// playVolumes judges the nodes as playFilterScore does, and takes the volumes on each node where the pod fits.
func playVolumes(t *testing.T, line []byte) (any, error) {
	var c volumesCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, err := build(ctx, &c.cluster, c.Pod, nil)
	if err != nil {
		return nil, err
	}
	info, err := framework.NewPodInfo(c.Pod)
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	out, nodes, err := judge(ctx, w, state, &framework.QueuedPodInfo{PodInfo: info})
	if err != nil {
		return nil, err
	}
	if out.Error != "" || len(nodes) == 0 {
		return harness.WithOut(line, map[string]any{"judged": out})
	}
	taken := map[string]*reserved{}
	for _, n := range nodes {
		name := n.Node().Name
		pod := c.Pod.DeepCopy()
		pod.Spec.NodeName = name
		r := &reserved{}
		taken[name] = r
		if s := w.f.RunReservePluginsReserve(ctx, state, pod, name); !s.IsSuccess() {
			r.Error = s.AsError().Error()
			w.f.RunReservePluginsUnreserve(ctx, state, pod, name)
			continue
		}
		allBound, bindings, provisions, err := volumebinding.OracleReserved(state, name)
		if err != nil {
			return nil, err
		}
		r.AllBound = allBound
		if !allBound {
			for _, b := range bindings {
				r.Bindings = append(r.Bindings, assumedVolume{key(b.Claim), b.Volume.Name, b.Volume.Spec.ClaimRef, b.Volume.Annotations})
			}
			for _, p := range provisions {
				if p.Annotations["volume.kubernetes.io/selected-node"] != name {
					return nil, fmt.Errorf("claim %s is to be provisioned for %v", key(p), p.Annotations)
				}
				r.Provisions = append(r.Provisions, key(p))
			}
		}
		sort.Slice(r.Bindings, func(i, j int) bool { return r.Bindings[i].Claim < r.Bindings[j].Claim })
		sort.Strings(r.Provisions)
		w.f.RunReservePluginsUnreserve(ctx, state, pod, name)
	}
	return harness.WithOut(line, map[string]any{"judged": out, "reserved": taken})
}

func key(c *v1.PersistentVolumeClaim) string { return c.Namespace + "/" + c.Name }

func init() { players["volumes"] = playVolumes }
