package modern

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	harness "oracle-harness"
)

type claimsCase struct {
	Nodes   []*v1.Node                   `json:"nodes"`
	Pod     *v1.Pod                      `json:"pod"`
	Classes []*resourceapi.DeviceClass   `json:"classes"`
	Slices  []*resourceapi.ResourceSlice `json:"slices"`
	Claims  []*resourceapi.ResourceClaim `json:"claims"`
	// claims that the server has in another version than the watch has brought
	Server []*resourceapi.ResourceClaim `json:"server,omitempty"`
	// claims that are gone from the server
	Gone   []string     `json:"gone,omitempty"`
	Events []claimEvent `json:"events,omitempty"`
}

type claimEvent struct {
	Resource string          `json:"resource"`
	Action   string          `json:"action"`
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"`
}

type claimWrite struct {
	What       string                           `json:"what"`
	Finalizers []string                         `json:"finalizers,omitempty"`
	Status     *resourceapi.ResourceClaimStatus `json:"status,omitempty"`
}

type claimEnd struct {
	Score  int64        `json:"score,omitempty"`
	Error  string       `json:"error,omitempty"`
	Writes []claimWrite `json:"writes,omitempty"`
	Undone []claimWrite `json:"undone,omitempty"`
}

type claimsOut struct {
	Gate       []string             `json:"gate,omitempty"`
	Skip       bool                 `json:"skip,omitempty"`
	PreFilter  *failure             `json:"preFilter,omitempty"`
	Failed     map[string]*failure  `json:"failed,omitempty"`
	PostFilter string               `json:"postFilter,omitempty"`
	Writes     []claimWrite         `json:"writes,omitempty"`
	Fits       map[string]*claimEnd `json:"fits,omitempty"`
	Hints      []string             `json:"hints,omitempty"`
}

func playClaims(t *testing.T, line []byte) (any, error) {
	metrics.Register()
	var c claimsCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	var out *claimsOut
	var err error
	synctest.Test(t, func(t *testing.T) { out, err = judgeClaims(&c) })
	if err != nil {
		return nil, err
	}
	for _, n := range c.Nodes {
		if end := out.Fits[n.Name]; end != nil {
			synctest.Test(t, func(t *testing.T) { err = bindClaims(&c, n, end) })
			if err != nil {
				return nil, err
			}
		}
	}
	return harness.WithOut(line, out)
}

type claimWorld struct {
	w      *world
	plugin *dynamicresources.DynamicResources
	writes []claimWrite
	stop   func()
}

func newClaimWorld(c *claimsCase) (*claimWorld, error) {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := build(ctx, &cluster{Nodes: c.Nodes}, nil, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	cw := &claimWorld{w: w}
	// what records metrics looks each second whether it is to end
	cw.stop = func() { cancel(); time.Sleep(2 * time.Second) }
	for _, p := range frameworkruntime.OraclePostFilterPlugins(w.f) {
		if dr, ok := p.(*dynamicresources.DynamicResources); ok {
			cw.plugin = dr
		}
	}
	tracker := w.client.Tracker()
	for _, o := range c.Classes {
		if err := tracker.Add(o.DeepCopy()); err != nil {
			return nil, err
		}
	}
	for _, o := range c.Slices {
		if err := tracker.Add(o.DeepCopy()); err != nil {
			return nil, err
		}
	}
	for _, o := range c.Claims {
		if err := tracker.Add(o.DeepCopy()); err != nil {
			return nil, err
		}
	}
	resources := w.informers.Resource().V1()
	go resources.ResourceClaims().Informer().Run(ctx.Done())
	go resources.ResourceSlices().Informer().Run(ctx.Done())
	go resources.DeviceClasses().Informer().Run(ctx.Done())
	synctest.Wait()
	return cw, nil
}

// outdate lets the server have other claims than the watch has brought.
func (cw *claimWorld) outdate(c *claimsCase) error {
	versions := map[string]*resourceapi.ResourceClaim{}
	for _, o := range c.Claims {
		versions[o.Name] = o.DeepCopy()
	}
	for _, o := range c.Server {
		versions[o.Name] = o.DeepCopy()
	}
	for _, name := range c.Gone {
		delete(versions, name)
	}
	number := 1000
	cw.w.client.PrependReactor("*", "resourceclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch a := action.(type) {
		case clienttesting.UpdateAction:
			o := a.GetObject().(*resourceapi.ResourceClaim).DeepCopy()
			now := versions[o.Name]
			if now == nil {
				return true, nil, apierrors.NewNotFound(resourceapi.Resource("resourceclaims"), o.Name)
			}
			if now.UID != o.UID || now.ResourceVersion != o.ResourceVersion {
				return true, nil, apierrors.NewConflict(resourceapi.Resource("resourceclaims"), o.Name, errors.New("modified"))
			}
			number++
			if a.GetSubresource() == "status" {
				now = now.DeepCopy()
				now.Status = o.Status
				cw.writes = append(cw.writes, claimWrite{What: "status " + o.Name, Status: &now.Status})
			} else {
				now = now.DeepCopy()
				now.Finalizers = o.Finalizers
				cw.writes = append(cw.writes, claimWrite{What: "object " + o.Name, Finalizers: o.Finalizers})
			}
			now.ResourceVersion = fmt.Sprint(number)
			versions[o.Name] = now
			return true, now.DeepCopy(), nil
		case clienttesting.PatchAction:
			now := versions[a.GetName()]
			if now == nil {
				return true, nil, apierrors.NewNotFound(resourceapi.Resource("resourceclaims"), a.GetName())
			}
			var patch struct {
				Metadata struct {
					UID string `json:"uid"`
				} `json:"metadata"`
				Status struct {
					ReservedFor []struct {
						UID string `json:"uid"`
					} `json:"reservedFor"`
				} `json:"status"`
			}
			if err := json.Unmarshal(a.GetPatch(), &patch); err != nil {
				return true, nil, err
			}
			if string(now.UID) != patch.Metadata.UID {
				return true, nil, apierrors.NewConflict(resourceapi.Resource("resourceclaims"), a.GetName(), errors.New("another uid"))
			}
			now = now.DeepCopy()
			left := []resourceapi.ResourceClaimConsumerReference{}
			for _, r := range now.Status.ReservedFor {
				if string(r.UID) != patch.Status.ReservedFor[0].UID {
					left = append(left, r)
				}
			}
			if len(left) == len(now.Status.ReservedFor) {
				return true, now, nil // nothing changes
			}
			now.Status.ReservedFor = left
			number++
			now.ResourceVersion = fmt.Sprint(number)
			versions[a.GetName()] = now
			cw.writes = append(cw.writes, claimWrite{What: "status " + a.GetName(), Status: &now.Status})
			return true, now.DeepCopy(), nil
		case clienttesting.GetAction:
			if now := versions[a.GetName()]; now != nil {
				return true, now.DeepCopy(), nil
			}
			return true, nil, apierrors.NewNotFound(resourceapi.Resource("resourceclaims"), a.GetName())
		}
		return false, nil, nil
	})
	return nil
}

// taken returns the writes since it was called last.
func (cw *claimWorld) taken() []claimWrite {
	writes := cw.writes
	cw.writes = nil
	for i := range writes {
		writes[i].Status = withNamedShares(writes[i].Status)
	}
	return writes
}

// withNamedShares returns a copy in which random ids of new shares have one name.
func withNamedShares(status *resourceapi.ResourceClaimStatus) *resourceapi.ResourceClaimStatus {
	status = status.DeepCopy()
	if status == nil || status.Allocation == nil {
		return status
	}
	results := status.Allocation.Devices.Results
	for i := range results {
		if id := results[i].ShareID; id != nil && len(*id) == 36 {
			named := types.UID("share-new")
			results[i].ShareID = &named
		}
	}
	return status
}

func nodeInfoOf(n *v1.Node) fwk.NodeInfo {
	info := framework.NewNodeInfo()
	info.SetNode(n)
	return info
}

func (cw *claimWorld) filter(ctx context.Context, state fwk.CycleState, c *claimsCase, n *v1.Node) *failure {
	if s := cw.plugin.Filter(ctx, state, c.Pod, nodeInfoOf(n)); !s.IsSuccess() {
		return claimFailure(s)
	}
	return nil
}

func claimFailure(s *fwk.Status) *failure {
	if s.Code() == fwk.Error {
		return &failure{Code: "Error", Reasons: []string{s.AsError().Error()}}
	}
	return &failure{Code: s.Code().String(), Reasons: s.Reasons()}
}

func judgeClaims(c *claimsCase) (*claimsOut, error) {
	ctx := context.Background()
	cw, err := newClaimWorld(c)
	if err != nil {
		return nil, err
	}
	defer cw.stop()
	if err := cw.outdate(c); err != nil {
		return nil, err
	}
	out := &claimsOut{}
	if s := cw.plugin.PreEnqueue(ctx, c.Pod); !s.IsSuccess() {
		out.Gate = s.Reasons()
	}
	if out.Hints, err = cw.hints(ctx, c); err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	if _, s := cw.plugin.PreFilter(ctx, state, c.Pod, nil); s.IsSkip() {
		out.Skip = true
		return out, nil
	} else if !s.IsSuccess() {
		out.PreFilter = claimFailure(s)
		return out, nil
	}
	out.Failed, out.Fits = map[string]*failure{}, map[string]*claimEnd{}
	isError := false
	for _, n := range c.Nodes {
		if f := cw.filter(ctx, state, c, n); f != nil {
			out.Failed[n.Name] = f
			isError = isError || f.Code == "Error"
			continue
		}
		score, s := cw.plugin.Score(ctx, state, c.Pod, nodeInfoOf(n))
		if !s.IsSuccess() {
			return nil, s.AsError()
		}
		out.Fits[n.Name] = &claimEnd{Score: score}
	}
	if isError {
		out.Fits = nil
		return out, nil
	}
	if len(out.Fits) == 0 {
		_, s := cw.plugin.PostFilter(ctx, state, c.Pod, nil)
		out.PostFilter = s.Message()
		if s.Code() == fwk.Error {
			out.PostFilter = "error"
		}
		out.Writes = cw.taken()
	}
	return out, nil
}

// bindClaims lets the pod have one node: Reserve, PreBind, and then Unreserve as after a binding that has failed.
func bindClaims(c *claimsCase, n *v1.Node, end *claimEnd) error {
	ctx := context.Background()
	cw, err := newClaimWorld(c)
	if err != nil {
		return err
	}
	defer cw.stop()
	if err := cw.outdate(c); err != nil {
		return err
	}
	state := framework.NewCycleState()
	if _, s := cw.plugin.PreFilter(ctx, state, c.Pod, nil); !s.IsSuccess() {
		return s.AsError()
	}
	if f := cw.filter(ctx, state, c, n); f != nil {
		return fmt.Errorf("%v", f.Reasons)
	}
	if s := cw.plugin.Reserve(ctx, state, c.Pod, n.Name); !s.IsSuccess() {
		return s.AsError()
	}
	if s := cw.plugin.PreBind(ctx, state, c.Pod, n.Name); !s.IsSuccess() {
		end.Error = s.AsError().Error()
		if errors.Is(s.AsError(), dynamicresources.ErrDeviceBindingTimeout) {
			end.Error = "device binding timeout"
		}
	}
	end.Writes = cw.taken()
	cw.plugin.Unreserve(ctx, state, c.Pod, n.Name)
	end.Undone = cw.taken()
	return nil
}

var claimActions = map[string]fwk.ActionType{"Add": fwk.Add, "Update": fwk.Update, "Delete": fwk.Delete, "UpdatePodGeneratedResourceClaim": fwk.UpdatePodGeneratedResourceClaim}

var claimResources = map[string]fwk.EventResource{"Pod": fwk.Pod, "ResourceClaim": fwk.ResourceClaim, "ResourceSlice": fwk.ResourceSlice, "DeviceClass": fwk.DeviceClass}

func (cw *claimWorld) hints(ctx context.Context, c *claimsCase) ([]string, error) {
	all, err := scheduler.OracleHints(ctx, []fwk.EnqueueExtensions{cw.plugin})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range c.Events {
		before, err := claimObject(e.Resource, e.Before)
		if err != nil {
			return nil, err
		}
		after, err := claimObject(e.Resource, e.After)
		if err != nil {
			return nil, err
		}
		answer := "none"
		incoming := fwk.ClusterEvent{Resource: claimResources[e.Resource], ActionType: claimActions[e.Action]}
		for registered, functions := range all {
			if !framework.MatchClusterEvents(registered, incoming) {
				continue
			}
			for _, f := range functions {
				hint, err := f.QueueingHintFn(klog.FromContext(ctx), c.Pod, before, after)
				if err != nil || hint == fwk.Queue {
					answer = "Queue"
				} else if answer == "none" {
					answer = "Skip"
				}
			}
		}
		out = append(out, answer)
	}
	return out, nil
}

func claimObject(resource string, raw json.RawMessage) (any, error) {
	if raw == nil {
		return nil, nil
	}
	switch resource {
	case "Pod":
		return decoded[v1.Pod](raw)
	case "ResourceClaim":
		return decoded[resourceapi.ResourceClaim](raw)
	case "DeviceClass":
		return decoded[resourceapi.DeviceClass](raw)
	case "ResourceSlice":
		return decoded[resourceapi.ResourceSlice](raw)
	}
	return nil, fmt.Errorf("unknown resource %q", resource)
}

func init() { players["claims"] = playClaims }
