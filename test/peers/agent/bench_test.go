package agentpeer

// The rival of `npm run bench:node`: lists of pods through PodConfig into podWorkers, whose syncer does nothing, in real time.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/kubelet/util/queue"
	"k8s.io/utils/clock"
)

// a syncer that does nothing but count
type countingSyncer struct {
	syncs  atomic.Int64
	target atomic.Int64
	done   chan struct{}
}

// expect answers with a channel that is told once n more syncs have been made
func (s *countingSyncer) expect(n int) <-chan struct{} {
	s.done = make(chan struct{})
	s.target.Store(s.syncs.Load() + int64(n))
	return s.done
}

func (s *countingSyncer) SyncPod(context.Context, kubetypes.SyncPodType, *v1.Pod, *v1.Pod, *kubecontainer.PodStatus) (bool, func(), error) {
	if s.syncs.Add(1) == s.target.Load() {
		close(s.done)
	}
	return false, nil, nil
}
func (s *countingSyncer) SyncTerminatingPod(context.Context, *v1.Pod, *kubecontainer.PodStatus, *int64, func(*v1.PodStatus)) error {
	return nil
}
func (s *countingSyncer) SyncTerminatingRuntimePod(context.Context, *kubecontainer.Pod) error {
	return nil
}
func (s *countingSyncer) SyncTerminatedPod(context.Context, *v1.Pod, *kubecontainer.PodStatus) error {
	return nil
}

type emptyCache struct{}

func (emptyCache) Get(uid types.UID) (*kubecontainer.PodStatus, error) {
	return &kubecontainer.PodStatus{ID: uid}, nil
}
func (c emptyCache) GetNewerThan(uid types.UID, _ time.Time) (*kubecontainer.PodStatus, error) {
	return c.Get(uid)
}

type nobody struct{}

func (nobody) ObservedPodOnWatch(*v1.Pod, time.Time) {}

type benchFigures struct {
	CreatedASecond float64 `json:"createdASecond"`
	CreatedCPUUs   float64 `json:"createdCpuUs"`
	ChangedASecond float64 `json:"changedASecond"`
	ChangedCPUUs   float64 `json:"changedCpuUs"`
	OneChangedMs   float64 `json:"oneChangedMs"`
	BytesPerPod    float64 `json:"bytesPerPod"`
}

func benchPod(i int, version string) *v1.Pod {
	p := &v1.Pod{}
	p.Name, p.Namespace, p.UID = fmt.Sprintf("pod-%d", i), "default", types.UID(fmt.Sprintf("uid-%d", i))
	p.ResourceVersion = version
	p.Labels = map[string]string{"app": "web", "version": version}
	p.Spec.NodeName = "node-1"
	for _, name := range []string{"app", "side"} {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: name, Image: "registry.example/" + name + ":1", Env: []v1.EnvVar{{Name: "A", Value: "1"}}})
	}
	return p
}

func benchPods(n int, version string) []*v1.Pod {
	pods := make([]*v1.Pod, n)
	for i := range pods {
		pods[i] = benchPod(i, version)
	}
	return pods
}

func usedMemory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestBench(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("BENCH_PODS"))
	if err != nil {
		t.Skip("BENCH_PODS is not set")
	}
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	ctx := context.Background()
	s := &countingSyncer{}
	pods, changed := benchPods(n, "1"), benchPods(n, "2")
	before := usedMemory()
	c := config.NewPodConfig(record.NewFakeRecorder(10), nobody{})
	w := kubelet.OraclePodWorkers(s, &record.FakeRecorder{}, queue.NewBasicWorkQueue(clock.RealClock{}), time.Minute, 10*time.Second, emptyCache{}, allocateAll{})
	send, _ := config.OracleSource(ctx, c, "api")
	var reading sync.WaitGroup
	reading.Add(1)
	go func() {
		defer reading.Done()
		for u := range c.Updates() {
			kind := kubetypes.SyncPodUpdate
			if u.Op == kubetypes.ADD {
				kind = kubetypes.SyncPodCreate
			}
			for _, p := range u.Pods {
				w.UpdatePod(ctx, kubelet.UpdatePodOptions{UpdateType: kind, Pod: p})
			}
		}
	}()
	measure := func(list []*v1.Pod, syncs int) (time.Duration, time.Duration) {
		began, cpu := time.Now(), cpuTime()
		done := s.expect(syncs)
		send(list)
		<-done
		return time.Since(began), cpuTime() - cpu
	}
	perSecond := func(d time.Duration) float64 { return float64(n) / d.Seconds() }
	perPod := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(n) }
	f := benchFigures{}
	took, cpu := measure(pods, n)
	f.CreatedASecond, f.CreatedCPUUs = perSecond(took), perPod(cpu)
	time.Sleep(100 * time.Millisecond)
	f.BytesPerPod = float64(usedMemory()-before) / float64(n)
	took, cpu = measure(changed, n)
	f.ChangedASecond, f.ChangedCPUUs = perSecond(took), perPod(cpu)
	const turns = 50
	began := time.Now()
	for i := range turns {
		changed[i] = benchPod(i, "3")
		measure(changed, 1)
	}
	f.OneChangedMs = float64(time.Since(began).Microseconds()) / 1000 / turns
	out, _ := json.Marshal(f)
	if err := os.WriteFile(os.Getenv("BENCH_OUT"), out, 0o644); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(pods)
}
