package modern

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	harness "oracle-harness"
)

type extendedClaimsCase struct {
	claimsCase
	// what the server refuses: create, object, status, pod or delete
	Refuse string `json:"refuse,omitempty"`
}

type extendedClaimsWrite struct {
	What       string                             `json:"what"`
	Made       *resourceapi.ResourceClaim         `json:"made,omitempty"`
	Finalizers []string                           `json:"finalizers,omitempty"`
	Status     *resourceapi.ResourceClaimStatus   `json:"status,omitempty"`
	Extended   *v1.PodExtendedResourceClaimStatus `json:"extended,omitempty"`
}

type extendedClaimsEnd struct {
	Score  int64                 `json:"score,omitempty"`
	Error  string                `json:"error,omitempty"`
	Writes []extendedClaimsWrite `json:"writes,omitempty"`
	Undone []extendedClaimsWrite `json:"undone,omitempty"`
}

type extendedClaimsOut struct {
	Signed     bool                          `json:"signed,omitempty"`
	Hints      []map[string]string           `json:"hints,omitempty"`
	Skip       bool                          `json:"skip,omitempty"`
	PreFilter  *failure                      `json:"preFilter,omitempty"`
	Failed     map[string]*failure           `json:"failed,omitempty"`
	PostFilter string                        `json:"postFilter,omitempty"`
	Writes     []extendedClaimsWrite         `json:"writes,omitempty"`
	Fits       map[string]*extendedClaimsEnd `json:"fits,omitempty"`
}

type extendedClaimsWorld struct {
	*claimWorld
	fit    *noderesources.Fit
	made   []extendedClaimsWrite
	isSkip bool
}

func newExtendedWorld(c *extendedClaimsCase) (*extendedClaimsWorld, error) {
	cw, err := newClaimWorld(&c.claimsCase)
	if err != nil {
		return nil, err
	}
	w := &extendedClaimsWorld{claimWorld: cw}
	// as the scheduler's own event handlers do
	if resolver, ok := cw.w.f.SharedDRAManager().DeviceClassResolver().(*extendedresourcecache.ExtendedResourceCache); ok {
		if _, err := cw.w.informers.Resource().V1().DeviceClasses().Informer().AddEventHandler(resolver); err != nil {
			return nil, err
		}
		synctest.Wait()
	}
	for _, p := range cw.w.f.EnqueueExtensions() {
		if f, ok := p.(*noderesources.Fit); ok {
			w.fit = f
		}
	}
	w.serve(c)
	return w, nil
}

// serve answers as a server that knows versions, and gives names to what is made.
func (w *extendedClaimsWorld) serve(c *extendedClaimsCase) {
	versions := map[string]*resourceapi.ResourceClaim{}
	for _, o := range c.Claims {
		versions[o.Name] = o.DeepCopy()
	}
	number := 1000
	claims := resourceapi.Resource("resourceclaims")
	refused := func(what, name string) error {
		if c.Refuse != what {
			return nil
		}
		return apierrors.NewForbidden(claims, name, errors.New("refused"))
	}
	record := func(write extendedClaimsWrite) { w.made = append(w.made, write) }
	w.w.client.PrependReactor("*", "resourceclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		number++
		switch a := action.(type) {
		case clienttesting.UpdateAction: // and a creation, which has the same methods
			o := a.GetObject().(*resourceapi.ResourceClaim).DeepCopy()
			if action.GetVerb() == "create" {
				if err := refused("create", o.GenerateName); err != nil {
					return true, nil, err
				}
				record(extendedClaimsWrite{What: "create", Made: o.DeepCopy()})
				o.Name, o.UID, o.ResourceVersion = o.GenerateName+"new", "u-made", fmt.Sprint(number)
				versions[o.Name] = o
				if err := w.w.client.Tracker().Add(o.DeepCopy()); err != nil {
					return true, nil, err
				}
				return true, o.DeepCopy(), nil
			}
			now := versions[o.Name]
			if now == nil {
				return true, nil, apierrors.NewNotFound(claims, o.Name)
			}
			if now.UID != o.UID || now.ResourceVersion != o.ResourceVersion {
				return true, nil, apierrors.NewConflict(claims, o.Name, errors.New("modified"))
			}
			now = now.DeepCopy()
			if a.GetSubresource() == "status" {
				if err := refused("status", o.Name); err != nil {
					return true, nil, err
				}
				now.Status = o.Status
				record(extendedClaimsWrite{What: "status " + o.Name, Status: &now.Status})
			} else if !slices.Equal(now.Finalizers, o.Finalizers) {
				if err := refused("object", o.Name); err != nil {
					return true, nil, err
				}
				now.Finalizers = o.Finalizers
				record(extendedClaimsWrite{What: "object " + o.Name, Finalizers: o.Finalizers})
			}
			now.ResourceVersion = fmt.Sprint(number)
			versions[o.Name] = now
			return true, now.DeepCopy(), nil
		case clienttesting.PatchAction:
			return true, versions[a.GetName()].DeepCopy(), w.unreserve(versions, a, number)
		case clienttesting.DeleteAction:
			if versions[a.GetName()] == nil {
				return true, nil, apierrors.NewNotFound(claims, a.GetName())
			}
			if err := refused("delete", a.GetName()); err != nil {
				return true, nil, err
			}
			delete(versions, a.GetName())
			record(extendedClaimsWrite{What: "delete " + a.GetName()})
			return true, nil, nil
		case clienttesting.GetAction:
			if now := versions[a.GetName()]; now != nil {
				return true, now.DeepCopy(), nil
			}
			return true, nil, apierrors.NewNotFound(claims, a.GetName())
		}
		return false, nil, nil
	})
	w.w.client.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if err := refused("pod", c.Pod.Name); err != nil {
			return true, nil, err
		}
		before, err := json.Marshal(c.Pod)
		if err != nil {
			return true, nil, err
		}
		after, err := strategicpatch.StrategicMergePatch(before, action.(clienttesting.PatchAction).GetPatch(), v1.Pod{})
		if err != nil {
			return true, nil, err
		}
		var pod v1.Pod
		if err := json.Unmarshal(after, &pod); err != nil {
			return true, nil, err
		}
		record(extendedClaimsWrite{What: "pod " + pod.Name, Extended: pod.Status.ExtendedResourceClaimStatus})
		return true, &pod, nil
	})
}

// unreserve takes the pod from a claim that it named itself.
func (w *extendedClaimsWorld) unreserve(versions map[string]*resourceapi.ResourceClaim, a clienttesting.PatchAction, number int) error {
	now := versions[a.GetName()].DeepCopy()
	var patch struct {
		Status struct {
			ReservedFor []struct {
				UID types.UID `json:"uid"`
			} `json:"reservedFor"`
		} `json:"status"`
	}
	if err := json.Unmarshal(a.GetPatch(), &patch); err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(now.Status.ReservedFor), func(r resourceapi.ResourceClaimConsumerReference) bool {
		return r.UID == patch.Status.ReservedFor[0].UID
	})
	if len(left) == len(now.Status.ReservedFor) {
		return nil
	}
	now.Status.ReservedFor = left
	now.ResourceVersion = fmt.Sprint(number)
	versions[now.Name] = now
	w.made = append(w.made, extendedClaimsWrite{What: "status " + now.Name, Status: &now.Status})
	return nil
}

// written returns the writes since it was called last.
func (w *extendedClaimsWorld) written() []extendedClaimsWrite {
	writes := w.made
	w.made = nil
	for i := range writes {
		writes[i].Status = withNamedShares(writes[i].Status)
	}
	return writes
}

func (w *extendedClaimsWorld) preFilter(ctx context.Context, state fwk.CycleState, c *extendedClaimsCase) *failure {
	if _, s := w.fit.PreFilter(ctx, state, c.Pod, nil); !s.IsSuccess() && !s.IsSkip() {
		return claimFailure(s)
	}
	_, s := w.plugin.PreFilter(ctx, state, c.Pod, nil)
	w.isSkip = s.IsSkip()
	if w.isSkip || s.IsSuccess() {
		return nil
	}
	return claimFailure(s)
}

func (w *extendedClaimsWorld) filter(ctx context.Context, state fwk.CycleState, c *extendedClaimsCase, n *v1.Node) *failure {
	if s := w.fit.Filter(ctx, state, c.Pod, nodeInfoOf(n)); !s.IsSuccess() {
		f := claimFailure(s)
		f.Plugin = w.fit.Name()
		slices.Sort(f.Reasons)
		return f
	}
	if w.isSkip {
		return nil
	}
	if s := w.plugin.Filter(ctx, state, c.Pod, nodeInfoOf(n)); !s.IsSuccess() {
		f := claimFailure(s)
		f.Plugin = w.plugin.Name()
		return f
	}
	return nil
}

func judgeExtended(c *extendedClaimsCase) (*extendedClaimsOut, error) {
	ctx := context.Background()
	w, err := newExtendedWorld(c)
	if err != nil {
		return nil, err
	}
	defer w.stop()
	out := &extendedClaimsOut{}
	_, signed := w.fit.SignPod(ctx, c.Pod)
	out.Signed = signed.IsSuccess()
	if out.Hints, err = w.hints(ctx, c); err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	if out.PreFilter = w.preFilter(ctx, state, c); out.PreFilter != nil {
		return out, nil
	}
	out.Skip = w.isSkip
	out.Failed, out.Fits = map[string]*failure{}, map[string]*extendedClaimsEnd{}
	isError := false
	for _, n := range c.Nodes {
		if f := w.filter(ctx, state, c, n); f != nil {
			out.Failed[n.Name] = f
			isError = isError || f.Code == "Error"
			continue
		}
		end := &extendedClaimsEnd{}
		out.Fits[n.Name] = end
		if w.isSkip {
			continue
		}
		score, s := w.plugin.Score(ctx, state, c.Pod, nodeInfoOf(n))
		if !s.IsSuccess() {
			return nil, s.AsError()
		}
		end.Score = score
	}
	if isError {
		out.Fits = nil
		return out, nil
	}
	if len(out.Fits) == 0 && !w.isSkip {
		_, s := w.plugin.PostFilter(ctx, state, c.Pod, nil)
		out.PostFilter = s.Message()
		if s.Code() == fwk.Error {
			out.PostFilter = "error"
		}
		out.Writes = w.written()
	}
	return out, nil
}

func bindExtended(c *extendedClaimsCase, n *v1.Node, end *extendedClaimsEnd) error {
	ctx := context.Background()
	w, err := newExtendedWorld(c)
	if err != nil {
		return err
	}
	defer w.stop()
	state := framework.NewCycleState()
	if f := w.preFilter(ctx, state, c); f != nil {
		return fmt.Errorf("%v", f.Reasons)
	}
	if w.isSkip {
		return nil
	}
	if f := w.filter(ctx, state, c, n); f != nil {
		return fmt.Errorf("%v", f.Reasons)
	}
	if s := w.plugin.Reserve(ctx, state, c.Pod, n.Name); !s.IsSuccess() {
		return s.AsError()
	}
	if s := w.plugin.PreBind(ctx, state, c.Pod, n.Name); !s.IsSuccess() {
		end.Error = s.AsError().Error()
		if errors.Is(s.AsError(), dynamicresources.ErrDeviceBindingTimeout) {
			end.Error = "device binding timeout"
		}
	}
	end.Writes = w.written()
	w.plugin.Unreserve(ctx, state, c.Pod, n.Name)
	end.Undone = w.written()
	return nil
}

func playExtendedClaims(t *testing.T, line []byte) (any, error) {
	metrics.Register()
	var c extendedClaimsCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	var out *extendedClaimsOut
	var err error
	synctest.Test(t, func(t *testing.T) { out, err = judgeExtended(&c) })
	if err != nil {
		return nil, err
	}
	for _, n := range c.Nodes {
		if end := out.Fits[n.Name]; end != nil {
			synctest.Test(t, func(t *testing.T) { err = bindExtended(&c, n, end) })
			if err != nil {
				return nil, err
			}
		}
	}
	return harness.WithOut(line, out)
}

var extendedActions = map[string]fwk.ActionType{"Add": fwk.Add, "Update": fwk.Update, "UpdateNodeAllocatable": fwk.UpdateNodeAllocatable, "UpdateNodeLabel": fwk.UpdateNodeLabel}

func (w *extendedClaimsWorld) hints(ctx context.Context, c *extendedClaimsCase) ([]map[string]string, error) {
	all, err := scheduler.OracleHints(ctx, []fwk.EnqueueExtensions{w.plugin, w.fit})
	if err != nil {
		return nil, err
	}
	var out []map[string]string
	for _, e := range c.Events {
		before, err := extendedObject(e.Resource, e.Before)
		if err != nil {
			return nil, err
		}
		after, err := extendedObject(e.Resource, e.After)
		if err != nil {
			return nil, err
		}
		answers := map[string]string{}
		incoming := fwk.ClusterEvent{Resource: fwk.EventResource(e.Resource), ActionType: extendedActions[e.Action]}
		if e.Resource == "ResourceClaim" {
			incoming.Resource = fwk.ResourceClaim
		} else if e.Resource == "DeviceClass" {
			incoming.Resource = fwk.DeviceClass
		}
		for registered, functions := range all {
			if !framework.MatchClusterEvents(registered, incoming) {
				continue
			}
			for _, f := range functions {
				hint, err := f.QueueingHintFn(klog.FromContext(ctx), c.Pod, before, after)
				if err != nil || hint == fwk.Queue {
					answers[f.PluginName] = "Queue"
				} else if answers[f.PluginName] == "" {
					answers[f.PluginName] = "Skip"
				}
			}
		}
		out = append(out, answers)
	}
	return out, nil
}

func extendedObject(resource string, raw json.RawMessage) (any, error) {
	if raw != nil && resource == "Node" {
		return decoded[v1.Node](raw)
	}
	return claimObject(resource, raw)
}

func init() { players["extendedClaims"] = playExtendedClaims }
