package classic

import (
	"encoding/json"
	"fmt"
	"sort"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/controller/volume/scheduling"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	harness "oracle-harness"
)

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

func binderOf(f framework.Framework) scheduling.SchedulerVolumeBinder {
	for _, pl := range frameworkruntime.OracleFilterPlugins(f) {
		if p, ok := pl.(*volumebinding.VolumeBinding); ok {
			return p.Binder
		}
	}
	return nil
}

func key(c *v1.PersistentVolumeClaim) string { return c.Namespace + "/" + c.Name }

// playVolumesClassic judges the nodes as playClassic does, and takes the volumes on each node where the pod fits, if the policy binds volumes.
func playVolumesClassic(t *testing.T, line []byte) (any, error) {
	var c classicCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	j, err := judgePolicy(&c)
	if err != nil {
		return nil, err
	}
	defer j.cancel()
	if j.out.PolicyError != "" {
		return nil, fmt.Errorf("the policy is refused: %s", j.out.PolicyError)
	}
	if j.out.Error != "" || len(j.nodes) == 0 || binderOf(j.f) == nil {
		return harness.WithOut(line, map[string]any{"judged": j.out})
	}
	taken := map[string]*reserved{}
	for _, n := range j.nodes {
		pod := c.Pod.DeepCopy()
		pod.Spec.NodeName = n.Name
		r := &reserved{}
		taken[n.Name] = r
		if s := j.f.RunReservePluginsReserve(j.ctx, j.state, pod, n.Name); !s.IsSuccess() {
			r.Error = s.AsError().Error()
			j.f.RunReservePluginsUnreserve(j.ctx, j.state, pod, n.Name)
			continue
		}
		allBound, volumes, err := volumebinding.OracleReserved(j.state, n.Name)
		if err != nil {
			return nil, err
		}
		r.AllBound = allBound
		if !allBound {
			for _, b := range volumes.StaticBindings {
				claim, volume := scheduling.OracleParts(b)
				r.Bindings = append(r.Bindings, assumedVolume{key(claim), volume.Name, volume.Spec.ClaimRef, volume.Annotations})
			}
			for _, p := range volumes.DynamicProvisions {
				if p.Annotations["volume.kubernetes.io/selected-node"] != n.Name {
					return nil, fmt.Errorf("claim %s is to be provisioned for %v", key(p), p.Annotations)
				}
				r.Provisions = append(r.Provisions, key(p))
			}
		}
		sort.Slice(r.Bindings, func(i, j int) bool { return r.Bindings[i].Claim < r.Bindings[j].Claim })
		sort.Strings(r.Provisions)
		j.f.RunReservePluginsUnreserve(j.ctx, j.state, pod, n.Name)
	}
	return harness.WithOut(line, map[string]any{"judged": j.out, "reserved": taken})
}

func init() { players["volumesClassic"] = playVolumesClassic }
