package agentpeer

// "eviction": single looks of the eviction manager at a node whose numbers are scripted, in virtual time.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/utils/clock"
)

func init() { players["eviction"] = playEviction }

type evictionConfig struct {
	Hard map[string]string `json:"evictionHard,omitempty"`
	Soft map[string]string `json:"evictionSoft,omitempty"`
	// SoftGraceSeconds by signal
	SoftGraceSeconds map[string]int    `json:"softGraceSeconds,omitempty"`
	MinimumReclaim   map[string]string `json:"evictionMinimumReclaim,omitempty"`
	MaxGraceSeconds  int64             `json:"maxPodGraceSeconds"`
	TransitionSecs   int               `json:"transitionSeconds"`
	// Allocatable: enforceNodeAllocatable names pods
	Allocatable     bool `json:"allocatable"`
	DedicatedImages bool `json:"dedicatedImagefs"`
	SplitContainers bool `json:"splitContainerfs"`
	Isolation       bool `json:"localStorageCapacityIsolation"`
}

type evictionSupply struct {
	Available uint64 `json:"available"`
	Capacity  uint64 `json:"capacity"`
}

// evictionNode: what the node has; what is absent is not known.
type evictionNode struct {
	Memory            *evictionSupply `json:"memory,omitempty"`
	PodsMemory        *evictionSupply `json:"podsMemory,omitempty"`
	Nodefs            *evictionSupply `json:"nodefs,omitempty"`
	NodefsInodes      *evictionSupply `json:"nodefsInodes,omitempty"`
	Imagefs           *evictionSupply `json:"imagefs,omitempty"`
	ImagefsInodes     *evictionSupply `json:"imagefsInodes,omitempty"`
	Containerfs       *evictionSupply `json:"containerfs,omitempty"`
	ContainerfsInodes *evictionSupply `json:"containerfsInodes,omitempty"`
	Pids              *evictionSupply `json:"pids,omitempty"`
}

func (n *evictionNode) free(more *evictionNode) {
	add := func(to, by *evictionSupply) {
		if to != nil && by != nil {
			to.Available += by.Available
		}
	}
	if more == nil {
		return
	}
	add(n.Nodefs, more.Nodefs)
	add(n.NodefsInodes, more.NodefsInodes)
	add(n.Imagefs, more.Imagefs)
	add(n.ImagefsInodes, more.ImagefsInodes)
	add(n.Containerfs, more.Containerfs)
	add(n.ContainerfsInodes, more.ContainerfsInodes)
}

type evictionSize struct {
	Bytes  uint64 `json:"bytes"`
	Inodes uint64 `json:"inodes"`
}

type evictionContainer struct {
	Name   string        `json:"name"`
	Memory *uint64       `json:"memory,omitempty"`
	Rootfs *evictionSize `json:"rootfs,omitempty"`
	Logs   *evictionSize `json:"logs,omitempty"`
}

type evictionUsage struct {
	Memory     *uint64             `json:"memory,omitempty"`
	Processes  *uint64             `json:"processes,omitempty"`
	Containers []evictionContainer `json:"containers"`
	// Volumes on the node's disk, and those in memory, by name
	Volumes       map[string]evictionSize `json:"volumes,omitempty"`
	MemoryVolumes map[string]evictionSize `json:"memoryVolumes,omitempty"`
	// Others: the hosts file and the like
	Others evictionSize `json:"others"`
}

type evictionFrees struct {
	Containers     *evictionNode `json:"containers,omitempty"`
	Images         *evictionNode `json:"images,omitempty"`
	ContainersFail bool          `json:"containersFail,omitempty"`
	ImagesFail     bool          `json:"imagesFail,omitempty"`
}

type evictionStep struct {
	Op string `json:"op"` // look | admit
	// Seconds that pass before
	Seconds int `json:"seconds,omitempty"`
	// of look; absent: as before
	Node  *evictionNode            `json:"node,omitempty"`
	Pods  []*v1.Pod                `json:"pods,omitempty"`
	Usage map[string]evictionUsage `json:"usage,omitempty"`
	Frees *evictionFrees           `json:"frees,omitempty"`
	// of admit
	Pod    *v1.Pod          `json:"pod,omitempty"`
	Expect *evictionOutcome `json:"expect,omitempty"`
}

type evictionEvent struct {
	About       string            `json:"about"` // node, or the pod's name
	Reason      string            `json:"reason"`
	Message     string            `json:"message"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type evictionKill struct {
	Pod          string        `json:"pod"`
	GraceSeconds int64         `json:"gracePeriodSeconds"`
	Status       *v1.PodStatus `json:"status"`
}

type evictionAdmission struct {
	Admit   bool   `json:"admit"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type evictionOutcome struct {
	// Refused: the configuration breaks a rule; of the first step only, and nothing else is done
	Refused   bool               `json:"refused,omitempty"`
	Evicted   []string           `json:"evicted,omitempty"`
	Killed    []evictionKill     `json:"killed,omitempty"`
	Events    []evictionEvent    `json:"events,omitempty"`
	Reclaimed []string           `json:"reclaimed,omitempty"`
	Pressures []string           `json:"pressures,omitempty"`
	Admission *evictionAdmission `json:"admission,omitempty"`
}

type evictionScenario struct {
	Name   string          `json:"name"`
	Kind   string          `json:"kind"`
	Config evictionConfig  `json:"config"`
	Steps  []*evictionStep `json:"steps"`
}

// evictionWorld is everything that the manager asks.
type evictionWorld struct {
	config evictionConfig
	node   evictionNode
	pods   []*v1.Pod
	usage  map[string]evictionUsage
	frees  *evictionFrees
	out    *evictionOutcome
}

func (w *evictionWorld) HasDedicatedImageFs(context.Context) (bool, error) {
	return w.config.DedicatedImages, nil
}

func (w *evictionWorld) HasDedicatedContainerFs(context.Context) (bool, error) {
	return w.config.SplitContainers, nil
}

func (w *evictionWorld) DeleteUnusedImages(context.Context) error {
	w.out.Reclaimed = append(w.out.Reclaimed, "images")
	if w.frees == nil {
		return nil
	}
	if w.frees.ImagesFail {
		return errors.New("images stay")
	}
	w.node.free(w.frees.Images)
	return nil
}

func (w *evictionWorld) DeleteAllUnusedContainers(context.Context) error {
	w.out.Reclaimed = append(w.out.Reclaimed, "containers")
	if w.frees == nil {
		return nil
	}
	if w.frees.ContainersFail {
		return errors.New("containers stay")
	}
	w.node.free(w.frees.Containers)
	return nil
}

func (w *evictionWorld) kill(pod *v1.Pod, _ bool, grace *int64, fn func(*v1.PodStatus)) error {
	status := pod.Status.DeepCopy()
	if status.Phase == "" {
		status.Phase = v1.PodRunning
	}
	fn(status)
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	w.out.Killed = append(w.out.Killed, evictionKill{pod.Name, *grace, status})
	left := []*v1.Pod{}
	for _, p := range w.pods {
		if p.UID != pod.UID {
			left = append(left, p)
		}
	}
	w.pods = left
	return nil
}

func about(object runtime.Object) string {
	if pod, ok := object.(*v1.Pod); ok {
		return pod.Name
	}
	return "node"
}

func (w *evictionWorld) Event(object runtime.Object, _, reason, message string) {
	w.out.Events = append(w.out.Events, evictionEvent{about(object), reason, message, nil})
}

func (w *evictionWorld) Eventf(object runtime.Object, _, reason, format string, args ...interface{}) {
	w.Event(object, "", reason, fmt.Sprintf(format, args...))
}

func (w *evictionWorld) AnnotatedEventf(object runtime.Object, annotations map[string]string, _, reason, format string, args ...interface{}) {
	w.out.Events = append(w.out.Events, evictionEvent{about(object), reason, fmt.Sprintf(format, args...), annotations})
}

func (w *evictionWorld) GetCPUAndMemoryStats(ctx context.Context) (*statsapi.Summary, error) {
	return w.Get(ctx, false)
}

func fsOf(bytes, inodes *evictionSupply) *statsapi.FsStats {
	if bytes == nil && inodes == nil {
		return nil
	}
	fs := &statsapi.FsStats{}
	if bytes != nil {
		fs.AvailableBytes, fs.CapacityBytes = &bytes.Available, &bytes.Capacity
	}
	if inodes != nil {
		fs.InodesFree, fs.Inodes = &inodes.Available, &inodes.Capacity
	}
	return fs
}

func memoryOf(supply evictionSupply) *statsapi.MemoryStats {
	used := supply.Capacity - supply.Available
	return &statsapi.MemoryStats{AvailableBytes: &supply.Available, WorkingSetBytes: &used}
}

func usedFs(size *evictionSize) *statsapi.FsStats {
	if size == nil {
		return nil
	}
	return &statsapi.FsStats{UsedBytes: &size.Bytes, InodesUsed: &size.Inodes}
}

func podStatsOf(uid string, usage evictionUsage) statsapi.PodStats {
	stats := statsapi.PodStats{PodRef: statsapi.PodReference{UID: uid}}
	total := usage.Others
	add := func(size *evictionSize) {
		if size != nil {
			total.Bytes += size.Bytes
			total.Inodes += size.Inodes
		}
	}
	if usage.Memory != nil {
		stats.Memory = &statsapi.MemoryStats{WorkingSetBytes: usage.Memory}
	}
	if usage.Processes != nil {
		stats.ProcessStats = &statsapi.ProcessStats{ProcessCount: usage.Processes}
	}
	for _, c := range usage.Containers {
		one := statsapi.ContainerStats{Name: c.Name, Rootfs: usedFs(c.Rootfs), Logs: usedFs(c.Logs)}
		if c.Memory != nil {
			one.Memory = &statsapi.MemoryStats{WorkingSetBytes: c.Memory}
		}
		add(c.Rootfs)
		add(c.Logs)
		stats.Containers = append(stats.Containers, one)
	}
	for name, size := range usage.Volumes {
		add(&size)
		stats.VolumeStats = append(stats.VolumeStats, statsapi.VolumeStats{Name: name, FsStats: *usedFs(&size)})
	}
	for name, size := range usage.MemoryVolumes {
		stats.VolumeStats = append(stats.VolumeStats, statsapi.VolumeStats{Name: name, FsStats: *usedFs(&size)})
	}
	stats.EphemeralStorage = usedFs(&total)
	return stats
}

func (w *evictionWorld) Get(context.Context, bool) (*statsapi.Summary, error) {
	n := w.node
	summary := &statsapi.Summary{}
	if n.Memory != nil {
		summary.Node.Memory = memoryOf(*n.Memory)
	}
	if n.PodsMemory != nil {
		summary.Node.SystemContainers = []statsapi.ContainerStats{{Name: statsapi.SystemContainerPods, Memory: memoryOf(*n.PodsMemory)}}
	}
	copyOf := func(s *evictionSupply) *evictionSupply {
		if s == nil {
			return nil
		}
		c := *s
		return &c
	}
	summary.Node.Fs = fsOf(copyOf(n.Nodefs), copyOf(n.NodefsInodes))
	summary.Node.Runtime = &statsapi.RuntimeStats{
		ImageFs:     fsOf(copyOf(n.Imagefs), copyOf(n.ImagefsInodes)),
		ContainerFs: fsOf(copyOf(n.Containerfs), copyOf(n.ContainerfsInodes)),
	}
	if n.Pids != nil {
		most, running := int64(n.Pids.Capacity), int64(n.Pids.Capacity)-int64(n.Pids.Available)
		summary.Node.Rlimit = &statsapi.RlimitStats{MaxPID: &most, NumOfRunningProcesses: &running}
	}
	for uid, usage := range w.usage {
		summary.Pods = append(summary.Pods, podStatsOf(uid, usage))
	}
	return summary, nil
}

func (c evictionConfig) manager(w *evictionWorld) (eviction.Manager, lifecycle.PodAdmitHandler, error) {
	allocatable := []string{}
	if c.Allocatable {
		allocatable = append(allocatable, "pods")
	}
	graces := map[string]string{}
	for signal, seconds := range c.SoftGraceSeconds {
		graces[signal] = fmt.Sprintf("%ds", seconds)
	}
	thresholds, err := eviction.ParseThresholdConfig(allocatable, c.Hard, c.Soft, graces, c.MinimumReclaim)
	if err != nil {
		return nil, nil, err
	}
	config := eviction.Config{
		PressureTransitionPeriod: time.Duration(c.TransitionSecs) * time.Second,
		MaxPodGracePeriodSeconds: c.MaxGraceSeconds,
		Thresholds:               thresholds,
	}
	ref := &v1.ObjectReference{Kind: "Node", Name: "node"}
	m, h := eviction.NewManager(w, config, w.kill, w, w, w, ref, clock.RealClock{}, c.Isolation)
	return m, h, nil
}

// inOrder: upstream names the conditions in a map's order.
func inOrder(message string) string {
	var found []string
	for _, name := range []string{"MemoryPressure", "DiskPressure", "PIDPressure"} {
		if strings.Contains(message, name) {
			found = append(found, name)
		}
	}
	before, _, hasList := strings.Cut(message, "[")
	_, after, _ := strings.Cut(message, "]")
	if !hasList {
		return message
	}
	return before + "[" + strings.Join(found, " ") + "]" + after
}

func playEviction(t *testing.T, line []byte) (any, error) {
	var sc evictionScenario
	if err := json.Unmarshal(line, &sc); err != nil {
		return nil, err
	}
	var failure error
	synctest.Test(t, func(*testing.T) {
		ctx := context.Background()
		w := &evictionWorld{config: sc.Config}
		m, admits, err := sc.Config.manager(w)
		for i, s := range sc.Steps {
			out := &evictionOutcome{}
			s.Expect, w.out = out, out
			if err != nil {
				out.Refused = i == 0
				continue
			}
			time.Sleep(time.Duration(s.Seconds) * time.Second)
			if s.Op == "admit" {
				answer := admits.Admit(&lifecycle.PodAdmitAttributes{Pod: s.Pod})
				out.Admission = &evictionAdmission{answer.Admit, answer.Reason, inOrder(answer.Message)}
				continue
			}
			if s.Node != nil {
				text, _ := json.Marshal(s.Node)
				w.node = evictionNode{}
				_ = json.Unmarshal(text, &w.node)
			}
			if s.Pods != nil {
				w.pods = append([]*v1.Pod{}, s.Pods...)
			}
			if s.Usage != nil {
				w.usage = s.Usage
			}
			w.frees = s.Frees
			evicted, lookErr := eviction.OracleLook(ctx, m, w, func() []*v1.Pod { return append([]*v1.Pod{}, w.pods...) })
			if lookErr != nil {
				failure = lookErr
			}
			for _, pod := range evicted {
				out.Evicted = append(out.Evicted, pod.Name)
			}
			for _, one := range []struct {
				name string
				is   bool
			}{{"memory", m.IsUnderMemoryPressure()}, {"disk", m.IsUnderDiskPressure()}, {"pid", m.IsUnderPIDPressure()}} {
				if one.is {
					out.Pressures = append(out.Pressures, one.name)
				}
			}
		}
	})
	return sc, failure
}
