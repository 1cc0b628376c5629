package main

// Operations of the `more-scenarios` kind: resize conditions, and what an agent does when a readiness gate turns.

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/status"
)

type inProgressResult struct {
	ObservedGeneration int64 `json:"observedGeneration"`
	Changed            bool  `json:"changed"`
}

type readinessResult struct {
	Needed  bool `json:"needed"`
	Changed bool `json:"changed"`
}

// moreOp plays one operation and returns its answer; ok is false for an operation it does not know.
func moreOp(m status.Manager, s *step, podOf func(types.UID) *v1.Pod) (result any, ok bool) {
	switch s.Op {
	case "setPodResizePendingCondition":
		return m.SetPodResizePendingCondition(s.PodUID, s.Reason, s.Message, s.Generation), true
	case "setPodResizeInProgressCondition":
		generation, changed := m.SetPodResizeInProgressCondition(s.PodUID, s.Reason, s.Message, s.Generation)
		return inProgressResult{generation, changed}, true
	case "clearPodResizePendingCondition":
		m.ClearPodResizePendingCondition(s.PodUID)
		return nil, true
	case "clearPodResizeInProgressCondition":
		generation, changed := m.ClearPodResizeInProgressCondition(s.PodUID)
		return inProgressResult{generation, changed}, true
	case "backfillPodResizeConditions":
		var pods []*v1.Pod
		for _, u := range s.PodUIDs {
			if p := podOf(u); p != nil {
				pods = append(pods, p)
			}
		}
		m.BackfillPodResizeConditions(pods)
		return nil, true
	case "reconcilePodReadiness":
		return reconcilePodReadiness(m, podOf(s.PodUID)), true
	}
	return nil, false
}

// reconcilePodReadiness does what the kubelet's sync loop does on a pod it was told of: where a gate has turned,
// the status is set again with Ready made anew.
func reconcilePodReadiness(m status.Manager, pod *v1.Pod) any {
	if pod == nil || !status.NeedToReconcilePodReadiness(pod) {
		return readinessResult{}
	}
	next, ok := m.GetPodStatus(pod.UID)
	if !ok {
		return readinessResult{Needed: true}
	}
	// a status without containers is one whose list is empty, not one that says nothing
	containers := append([]v1.ContainerStatus{}, next.ContainerStatuses...)
	ready := status.GeneratePodReadyCondition(pod, &pod.Status, pod.Status.Conditions, containers, next.Phase)
	next.Conditions = withCondition(next.Conditions, ready)
	_, changed := m.SetPodStatus(klog.Background(), pod, next)
	return readinessResult{true, changed}
}

func withCondition(conditions []v1.PodCondition, c v1.PodCondition) []v1.PodCondition {
	list := append([]v1.PodCondition{}, conditions...)
	for i := range list {
		if list[i].Type == c.Type {
			list[i] = c
			return list
		}
	}
	return append(list, c)
}

// withResizeConditions is the status as a kubelet would have made it: with the resize conditions in front.
func withResizeConditions(m status.Manager, uid types.UID, st v1.PodStatus) v1.PodStatus {
	var conditions []v1.PodCondition
	for _, c := range m.GetPodResizeConditions(uid) {
		conditions = append(conditions, *c)
	}
	st.Conditions = append(conditions, st.Conditions...)
	return st
}

// resizeConditionsOf copies what the manager holds, since it may write into what it handed out.
func resizeConditionsOf(m status.Manager, known map[types.UID]*v1.Pod) map[types.UID][]v1.PodCondition {
	all := map[types.UID][]v1.PodCondition{}
	for uid := range known {
		for _, c := range m.GetPodResizeConditions(uid) {
			all[uid] = append(all[uid], *c)
		}
	}
	return all
}
