package main

// Functions of the `more-tables` kind.

import (
	"context"

	"k8s.io/client-go/kubernetes/fake"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	kubepod "k8s.io/kubernetes/pkg/kubelet/pod"
	"k8s.io/kubernetes/pkg/kubelet/status"
)

type sandboxIn struct {
	Ready       bool `json:"ready"`
	HostNetwork bool `json:"hostNetwork,omitempty"`
	Network     *struct {
		IP string `json:"ip"`
	} `json:"network,omitempty"`
}

type runtimeContainerIn struct {
	Name     string              `json:"name"`
	State    kubecontainer.State `json:"state"`
	ExitCode int                 `json:"exitCode,omitempty"`
}

func sandboxesOf(in []sandboxIn) *kubecontainer.PodStatus {
	st := &kubecontainer.PodStatus{}
	for _, s := range in {
		mode := runtimeapi.NamespaceMode_POD
		if s.HostNetwork {
			mode = runtimeapi.NamespaceMode_NODE
		}
		sandbox := &runtimeapi.PodSandboxStatus{
			Metadata: &runtimeapi.PodSandboxMetadata{},
			State:    runtimeapi.PodSandboxState_SANDBOX_NOTREADY,
			Linux:    &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{Options: &runtimeapi.NamespaceOption{Network: mode}}},
		}
		if s.Ready {
			sandbox.State = runtimeapi.PodSandboxState_SANDBOX_READY
		}
		if s.Network != nil {
			sandbox.Network = &runtimeapi.PodSandboxNetworkStatus{Ip: s.Network.IP}
		}
		st.SandboxStatuses = append(st.SandboxStatuses, sandbox)
	}
	return st
}

func runtimeContainersOf(in []runtimeContainerIn) *kubecontainer.PodStatus {
	st := &kubecontainer.PodStatus{}
	for _, c := range in {
		st.ContainerStatuses = append(st.ContainerStatuses, &kubecontainer.Status{Name: c.Name, State: c.State, ExitCode: c.ExitCode})
	}
	return st
}

// transitionAccepted tells whether the manager takes `new` after `old`: a refused status leaves the cache as it was.
func transitionAccepted(in tableIn) bool {
	logger := klog.FromContext(context.Background())
	m := status.NewManager(fake.NewSimpleClientset(), kubepod.NewBasicPodManager(), running{}, latency{})
	m.SetPodStatus(logger, in.Pod, *in.Old)
	next := *in.New.DeepCopy()
	next.Message = "the new status"
	m.SetPodStatus(logger, in.Pod, next)
	st, _ := m.GetPodStatus(in.Pod.UID)
	return st.Message == next.Message
}

// evalMore evaluates the function; ok is false for one it does not know.
func evalMore(fn string, in tableIn) (out any, ok bool) {
	switch fn {
	case "generatePodReadyToStartContainersCondition":
		return status.GeneratePodReadyToStartContainersCondition(in.Pod, in.Old, sandboxesOf(in.Sandboxes)), true
	case "generateAllContainersRestartingCondition":
		return status.GenerateAllContainersRestartingCondition(in.Pod, runtimeContainersOf(in.RuntimeContainers), in.Old, in.Phase), true
	case "needToReconcilePodReadiness":
		return status.NeedToReconcilePodReadiness(in.Pod), true
	case "checkContainerStateTransition":
		return map[string]bool{"accepted": transitionAccepted(in)}, true
	}
	return nil, false
}
