package agentpeer

// "phase": getPhase. "statuses": what the kubelet makes of runtime records, the status before and the pod: generateAPIPodStatus.
// "backoff": whether a container may restart yet.

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/kuberuntime"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"
)

func init() {
	players["phase"] = playPhase
	players["statuses"] = playStatuses
	players["backoff"] = playBackoff
}

type phaseCase struct {
	Kind           string               `json:"kind"`
	Name           string               `json:"name"`
	Pod            *v1.Pod              `json:"pod"`
	Statuses       []v1.ContainerStatus `json:"statuses"`
	Terminal       bool                 `json:"podIsTerminal"`
	HasInitialized bool                 `json:"podHasInitialized"`
	Out            v1.PodPhase          `json:"out,omitempty"`
}

func playPhase(_ *testing.T, line []byte) (any, error) {
	var c phaseCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	c.Out = kubelet.OraclePhase(c.Pod, c.Statuses, c.Terminal, c.HasInitialized)
	return c, nil
}

type runtimeContainer struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	State        string     `json:"state"` // created | running | exited | unknown
	CreatedAt    time.Time  `json:"createdAt"`
	StartedAt    *time.Time `json:"startedAt,omitempty"`
	FinishedAt   *time.Time `json:"finishedAt,omitempty"`
	ExitCode     int        `json:"exitCode,omitempty"`
	Image        string     `json:"image,omitempty"`
	ImageRef     string     `json:"imageRef,omitempty"`
	RestartCount int        `json:"restartCount,omitempty"`
	Reason       string     `json:"reason,omitempty"`
	Message      string     `json:"message,omitempty"`
	// Active: belongs to the sandbox in use
	Active bool `json:"active,omitempty"`
}

type sandbox struct {
	Ready   bool   `json:"ready,omitempty"`
	Attempt uint32 `json:"attempt,omitempty"`
	IP      string `json:"ip,omitempty"`
	// HostNetwork: made for a pod in the node's network
	HostNetwork bool `json:"hostNetwork,omitempty"`
}

type runtimePod struct {
	IPs        []string           `json:"ips,omitempty"`
	Containers []runtimeContainer `json:"containers,omitempty"`
	// Sandboxes: latest first
	Sandboxes []sandbox `json:"sandboxes,omitempty"`
}

type statusesCase struct {
	Kind     string                          `json:"kind"`
	Name     string                          `json:"name"`
	Pod      *v1.Pod                         `json:"pod"`
	Runtime  runtimePod                      `json:"runtime"`
	Previous *v1.PodStatus                   `json:"previous,omitempty"`
	Terminal bool                            `json:"podIsTerminal"`
	NodeIP   string                          `json:"nodeIP"`
	Reasons  map[string]kubelet.OracleReason `json:"reasons,omitempty"`
	// Startup and Readiness: probe results by container id
	Startup   map[string]bool `json:"startup,omitempty"`
	Readiness map[string]bool `json:"readiness,omitempty"`
	Out       any             `json:"out,omitempty"`
}

type statusManager struct {
	status.Manager
	previous *v1.PodStatus
}

func (m *statusManager) GetPodStatus(types.UID) (v1.PodStatus, bool) {
	if m.previous == nil {
		return v1.PodStatus{}, false
	}
	return *m.previous.DeepCopy(), true
}
func (m *statusManager) GetPodResizeConditions(types.UID) []*v1.PodCondition       { return nil }
func (m *statusManager) ClearPodResizePendingCondition(types.UID)                  {}
func (m *statusManager) ClearPodResizeInProgressCondition(types.UID) (int64, bool) { return 0, false }
func (m *statusManager) SetContainerReadiness(klog.Logger, types.UID, kubecontainer.ContainerID, bool) {
}

var states = map[string]kubecontainer.State{"created": kubecontainer.ContainerStateCreated, "running": kubecontainer.ContainerStateRunning, "exited": kubecontainer.ContainerStateExited, "unknown": kubecontainer.ContainerStateUnknown}

func (r runtimePod) status(pod *v1.Pod) *kubecontainer.PodStatus {
	st := &kubecontainer.PodStatus{ID: pod.UID, Name: pod.Name, Namespace: pod.Namespace, IPs: r.IPs}
	for _, c := range r.Containers {
		s := &kubecontainer.Status{ID: kubecontainer.ParseContainerID(c.ID), Name: c.Name, State: states[c.State], CreatedAt: c.CreatedAt, ExitCode: c.ExitCode, Image: c.Image, ImageRef: c.ImageRef, RestartCount: c.RestartCount, Reason: c.Reason, Message: c.Message}
		if c.StartedAt != nil {
			s.StartedAt = *c.StartedAt
		}
		if c.FinishedAt != nil {
			s.FinishedAt = *c.FinishedAt
		}
		st.ContainerStatuses = append(st.ContainerStatuses, s)
		if c.Active {
			st.ActiveContainerStatuses = append(st.ActiveContainerStatuses, s)
		}
	}
	for i, b := range r.Sandboxes {
		s := &runtimeapi.PodSandboxStatus{Id: fmt.Sprintf("sandbox-%d", i), Metadata: &runtimeapi.PodSandboxMetadata{Attempt: b.Attempt}, State: runtimeapi.PodSandboxState_SANDBOX_NOTREADY,
			Network: &runtimeapi.PodSandboxNetworkStatus{Ip: b.IP},
			Linux:   &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{Options: &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_POD}}}}
		if b.Ready {
			s.State = runtimeapi.PodSandboxState_SANDBOX_READY
		}
		if b.HostNetwork {
			s.Linux.Namespaces.Options.Network = runtimeapi.NamespaceMode_NODE
		}
		st.SandboxStatuses = append(st.SandboxStatuses, s)
	}
	return st
}

func playStatuses(t *testing.T, line []byte) (any, error) {
	var c statusesCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	// in a bubble: the agent started at 2000-01-01T00:00:00Z
	synctest.Test(t, func(*testing.T) { c.play() })
	return c, nil
}

func (c *statusesCase) play() {
	m := &statusManager{previous: c.Previous}
	live, ready, started := results.NewManager(), results.NewManager(), results.NewManager()
	for id, ok := range c.Startup {
		started.Set(kubecontainer.ParseContainerID(id), result(ok), c.Pod)
	}
	for id, ok := range c.Readiness {
		ready.Set(kubecontainer.ParseContainerID(id), result(ok), c.Pod)
	}
	p := prober.NewManager(m, live, ready, started, nil, record.NewFakeRecorder(10))
	got := kubelet.OracleStatus(c.Pod.DeepCopy(), c.Runtime.status(c.Pod), c.Terminal, c.NodeIP, m, p, cm.NewStubContainerManager(), c.Reasons)
	c.Out = map[string]any{"status": got}
}

func result(ok bool) results.Result {
	if ok {
		return results.Success
	}
	return results.Failure
}

type backoffStep struct {
	Op string `json:"op"` // exit | try | advance | image | gc
	// Container: name of the container
	Container string `json:"container,omitempty"`
	Seconds   int    `json:"seconds,omitempty"`
	Image     string `json:"image,omitempty"`
	Expect    any    `json:"expect,omitempty"`
}

type backoffScenario struct {
	Name        string         `json:"name"`
	Kind        string         `json:"kind"`
	BaseSeconds int            `json:"baseSeconds"`
	MaxSeconds  int            `json:"maxSeconds"`
	Steps       []*backoffStep `json:"steps"`
}

// A container exits ("exit"), later the kubelet would restart it ("try"): upstream says wait or go.
func playBackoff(t *testing.T, line []byte) (any, error) {
	var sc backoffScenario
	if err := json.Unmarshal(line, &sc); err != nil {
		return nil, err
	}
	var failure error
	synctest.Test(t, func(*testing.T) {
		b := flowcontrol.NewBackOff(time.Duration(sc.BaseSeconds)*time.Second, time.Duration(sc.MaxSeconds)*time.Second)
		// as kubelet.go sets it up
		b.HasExpiredFunc = func(event, last time.Time, _ time.Duration) bool { return event.Sub(last) > 600*time.Second }
		rec := record.NewFakeRecorder(1000)
		pod := &v1.Pod{}
		pod.Name, pod.Namespace, pod.UID = "p", "d", "u1"
		images, finished := map[string]string{}, map[string]time.Time{}
		for _, s := range sc.Steps {
			out := map[string]any{}
			switch s.Op {
			case "exit":
				finished[s.Container] = time.Now()
			case "image":
				images[s.Container] = s.Image
			case "advance":
				time.Sleep(time.Duration(s.Seconds) * time.Second)
			case "gc":
				b.GC()
			case "try":
				c := &v1.Container{Name: s.Container, Image: "i" + images[s.Container]}
				pod.Spec.Containers = []v1.Container{*c}
				st := &kubecontainer.PodStatus{}
				if at, ok := finished[s.Container]; ok {
					st.ContainerStatuses = append(st.ContainerStatuses, &kubecontainer.Status{Name: s.Container, State: kubecontainer.ContainerStateExited, FinishedAt: at})
				}
				wait, message, err := kuberuntime.OracleBackOff(rec, pod, c, st, b)
				out["wait"] = wait
				if wait {
					out["message"], out["error"] = message, err.Error()
					until, ok := kubecontainer.MinBackoffExpiration(err)
					if ok {
						out["remainingSeconds"] = time.Until(until).Seconds()
					}
				} else {
					out["backoffSeconds"] = b.Get(kuberuntime.GetBackoffKey(pod, c)).Seconds()
				}
			default:
				failure = fmt.Errorf("unknown op %s", s.Op)
			}
			for more := true; more; {
				select {
				case e := <-rec.Events:
					out["event"] = e
				default:
					more = false
				}
			}
			s.Expect = out
		}
	})
	return sc, failure
}
