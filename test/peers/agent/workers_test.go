package agentpeer

// "workers": the pod workers with a scripted syncer in virtual time.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/allocation"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
)

func init() { players["workers"] = playWorkers }

type killOptions struct {
	Evict       bool   `json:"evict,omitempty"`
	GracePeriod *int64 `json:"gracePeriod,omitempty"`
	// StatusFn: the status function sets this reason
	StatusFn string `json:"statusFn,omitempty"`
	// Completed: name of the channel to close
	Completed string `json:"completed,omitempty"`
}

type runningPod struct {
	UID       types.UID `json:"uid"`
	Name      string    `json:"name"`
	Namespace string    `json:"namespace"`
}

type plan struct {
	DelaySeconds int    `json:"delaySeconds,omitempty"`
	Block        bool   `json:"block,omitempty"`
	Error        string `json:"error,omitempty"` // failed | network | canceled | backoff
	Backoff      int    `json:"backoffSeconds,omitempty"`
	Terminal     bool   `json:"terminal,omitempty"`
	// IgnoreCancel: the call goes on when its context ends
	IgnoreCancel bool `json:"ignoreCancel,omitempty"`
}

type workerStep struct {
	Op         string          `json:"op"`
	UpdateType string          `json:"updateType,omitempty"`
	Pod        *v1.Pod         `json:"pod,omitempty"`
	MirrorUID  types.UID       `json:"mirrorUID,omitempty"`
	Running    *runningPod     `json:"runningPod,omitempty"`
	Kill       *killOptions    `json:"kill,omitempty"`
	PodUID     types.UID       `json:"podUID,omitempty"`
	PodUIDs    []types.UID     `json:"podUIDs,omitempty"`
	Fn         string          `json:"fn,omitempty"`
	Plan       []plan          `json:"plan,omitempty"`
	Value      bool            `json:"value,omitempty"`
	Times      int             `json:"times,omitempty"`
	Seconds    int             `json:"seconds,omitempty"`
	Expect     *workersOutcome `json:"expect,omitempty"`
}

type workerCall struct {
	Event       string    `json:"event"` // start | end
	Fn          string    `json:"fn"`
	PodUID      types.UID `json:"podUID"`
	UpdateType  string    `json:"updateType,omitempty"`
	Version     string    `json:"version,omitempty"`
	MirrorUID   types.UID `json:"mirrorUID,omitempty"`
	GracePeriod *int64    `json:"gracePeriod,omitempty"`
	StatusFn    string    `json:"statusFn,omitempty"`
	Result      string    `json:"result,omitempty"`
	// At: seconds since the scenario began
	At float64 `json:"at"`
}

type requeue struct {
	PodUID types.UID `json:"podUID"`
	// After: the shortest delay in seconds; upstream adds up to half of it again, by chance
	After string  `json:"after"`
	At    float64 `json:"at"`
}

type knownWorker struct {
	State     string `json:"state"`
	Orphan    bool   `json:"orphan,omitempty"`
	HasConfig bool   `json:"hasConfig,omitempty"`
	Static    bool   `json:"static,omitempty"`
}

type killed struct {
	Name  string  `json:"name"`
	Error string  `json:"error,omitempty"`
	At    float64 `json:"at"`
}

type workersOutcome struct {
	Calls     []workerCall `json:"calls,omitempty"`
	Requeue   []requeue    `json:"requeue,omitempty"`
	Completed []string     `json:"completed,omitempty"`
	// Killed: calls of killPodNow that came back in this step
	Killed []killed `json:"killed,omitempty"`
	Events []string `json:"events,omitempty"`
	// Known: what SyncKnownPods answered
	Known *map[types.UID]knownWorker `json:"known,omitempty"`
	// Answers: for each pod whose answers changed in this step, the questions answered true
	Answers map[types.UID][]string `json:"answers,omitempty"`
	// MirrorTerminating: full names for which IsPodForMirrorPodTerminatingByFullName is true; left out where as after the step before
	MirrorTerminating *[]string `json:"mirrorTerminating,omitempty"`
}

type workersScenario struct {
	Name  string        `json:"name"`
	Kind  string        `json:"kind"`
	Steps []*workerStep `json:"steps"`
}

type syncer struct {
	sync.Mutex
	began   time.Time
	calls   []workerCall
	plans   map[string][]plan
	blocked map[types.UID][]chan struct{}
	closing bool
}

func (s *syncer) since() float64 { return time.Since(s.began).Seconds() }

func (s *syncer) do(ctx context.Context, c workerCall) (bool, error) {
	s.Lock()
	c.Event, c.At = "start", s.since()
	s.calls = append(s.calls, c)
	p := plan{}
	key := c.Fn + " " + string(c.PodUID)
	if l := s.plans[key]; len(l) > 0 {
		p, s.plans[key] = l[0], l[1:]
	}
	var release chan struct{}
	if s.closing {
		p = plan{}
	}
	if p.Block {
		release = make(chan struct{})
		s.blocked[c.PodUID] = append(s.blocked[c.PodUID], release)
	}
	s.Unlock()
	done := ctx.Done()
	if p.IgnoreCancel {
		done = nil
	}
	var err error
	if p.DelaySeconds > 0 {
		t := time.NewTimer(time.Duration(p.DelaySeconds) * time.Second)
		select {
		case <-t.C:
		case <-done:
			t.Stop()
			err = context.Canceled
		}
	}
	if release != nil && err == nil {
		select {
		case <-release:
		case <-done:
			err = context.Canceled
		}
	}
	if err == nil {
		switch p.Error {
		case "failed":
			err = errors.New("failed")
		case "network":
			err = fmt.Errorf("%s: not yet", kubelet.NetworkNotReadyErrorMsg)
		case "canceled":
			err = fmt.Errorf("wrapped: %w", context.Canceled)
		case "backoff":
			err = kubecontainer.NewBackoffError(errors.New("crash loop"), time.Now().Add(time.Duration(p.Backoff)*time.Second))
		}
	}
	terminal := p.Terminal && c.Fn == "SyncPod" && !errors.Is(err, context.Canceled)
	s.Lock()
	defer s.Unlock()
	e := workerCall{Event: "end", Fn: c.Fn, PodUID: c.PodUID, Result: "ok", At: s.since()}
	switch {
	case errors.Is(err, context.Canceled):
		e.Result = "canceled"
	case err != nil:
		e.Result = p.Error
	case terminal:
		e.Result = "terminal"
	}
	if err != nil && terminal {
		e.Result += " terminal"
	}
	s.calls = append(s.calls, e)
	return terminal, err
}

func version(p *v1.Pod) string { return p.Labels["v"] }

func (s *syncer) SyncPod(ctx context.Context, t kubetypes.SyncPodType, pod, mirror *v1.Pod, _ *kubecontainer.PodStatus) (bool, func(), error) {
	c := workerCall{Fn: "SyncPod", PodUID: pod.UID, UpdateType: t.String(), Version: version(pod)}
	if mirror != nil {
		c.MirrorUID = mirror.UID
	}
	terminal, err := s.do(ctx, c)
	return terminal, nil, err
}

func (s *syncer) SyncTerminatingPod(ctx context.Context, pod *v1.Pod, _ *kubecontainer.PodStatus, grace *int64, fn func(*v1.PodStatus)) error {
	c := workerCall{Fn: "SyncTerminatingPod", PodUID: pod.UID, GracePeriod: grace, Version: version(pod)}
	if fn != nil {
		st := v1.PodStatus{}
		fn(&st)
		c.StatusFn = st.Reason
	}
	_, err := s.do(ctx, c)
	return err
}

func (s *syncer) SyncTerminatingRuntimePod(ctx context.Context, p *kubecontainer.Pod) error {
	_, err := s.do(ctx, workerCall{Fn: "SyncTerminatingRuntimePod", PodUID: p.ID})
	return err
}

func (s *syncer) SyncTerminatedPod(ctx context.Context, pod *v1.Pod, _ *kubecontainer.PodStatus) error {
	_, err := s.do(ctx, workerCall{Fn: "SyncTerminatedPod", PodUID: pod.UID, Version: version(pod)})
	return err
}

type workQueue struct {
	s    *syncer
	list []requeue
}

func (q *workQueue) GetWork() []types.UID { return nil }
func (q *workQueue) Enqueue(uid types.UID, d time.Duration) {
	q.s.Lock()
	defer q.s.Unlock()
	after := "other: " + d.String()
	// the bases in use do not overlap once up to half is added
	for _, base := range []int{1, 10, 20, 40, 60} {
		if b := time.Duration(base) * time.Second; d >= b && d <= b+b/2 {
			after = fmt.Sprint(base)
		}
	}
	if d == 0 {
		after = "0"
	}
	q.list = append(q.list, requeue{uid, after, q.s.since()})
}

type runtimeCache struct {
	sync.Mutex
	running map[types.UID]bool
	fails   map[types.UID]int
}

func (c *runtimeCache) Get(uid types.UID) (*kubecontainer.PodStatus, error) {
	c.Lock()
	defer c.Unlock()
	if c.fails[uid] > 0 {
		c.fails[uid]--
		return nil, errors.New("no status")
	}
	st := &kubecontainer.PodStatus{ID: uid}
	if c.running[uid] {
		st.ContainerStatuses = []*kubecontainer.Status{{Name: "c", State: kubecontainer.ContainerStateRunning}}
	}
	return st, nil
}
func (c *runtimeCache) GetNewerThan(uid types.UID, _ time.Time) (*kubecontainer.PodStatus, error) {
	return c.Get(uid)
}

// everything is allocated as asked
type allocateAll struct{ allocation.Manager }

func (allocateAll) UpdatePodFromAllocation(p *v1.Pod) (*v1.Pod, bool) { return p, false }

var updateTypes = map[string]kubetypes.SyncPodType{"create": kubetypes.SyncPodCreate, "update": kubetypes.SyncPodUpdate, "sync": kubetypes.SyncPodSync, "kill": kubetypes.SyncPodKill}

func playWorkers(t *testing.T, line []byte) (any, error) {
	var sc workersScenario
	if err := json.Unmarshal(line, &sc); err != nil {
		return nil, err
	}
	var failure error
	synctest.Test(t, func(*testing.T) {
		ctx := context.Background()
		logger := klog.Background()
		s := &syncer{began: time.Now(), plans: map[string][]plan{}, blocked: map[types.UID][]chan struct{}{}}
		q := &workQueue{s: s}
		cache := &runtimeCache{running: map[types.UID]bool{}, fails: map[types.UID]int{}}
		rec := record.NewFakeRecorder(1000)
		w := kubelet.OraclePodWorkers(s, rec, q, time.Minute, 10*time.Second, cache, allocateAll{})
		killNow := kubelet.OracleKillPodNow(w, rec)
		var kills []killed
		known := map[types.UID]bool{"never-seen": true}
		names := map[string]bool{}
		pending := map[string]chan struct{}{}
		desired := map[types.UID]*v1.Pod{}
		last, lastMirrors := map[types.UID]string{}, "[]"
		for _, st := range sc.Steps {
			s.Lock()
			s.calls, q.list, kills = nil, nil, nil
			s.Unlock()
			out := &workersOutcome{}
			switch st.Op {
			case "update":
				o := kubelet.UpdatePodOptions{UpdateType: updateTypes[st.UpdateType]}
				if st.Pod != nil {
					o.Pod = st.Pod.DeepCopy()
					known[st.Pod.UID] = true
					names[st.Pod.Name+"_"+st.Pod.Namespace] = true
					desired[st.Pod.UID] = o.Pod
				}
				if st.MirrorUID != "" {
					o.MirrorPod = &v1.Pod{}
					o.MirrorPod.UID = st.MirrorUID
				}
				if r := st.Running; r != nil {
					o.RunningPod = &kubecontainer.Pod{ID: r.UID, Name: r.Name, Namespace: r.Namespace}
					known[r.UID] = true
				}
				if k := st.Kill; k != nil {
					o.KillPodOptions = &kubelet.KillPodOptions{Evict: k.Evict, PodTerminationGracePeriodSecondsOverride: k.GracePeriod}
					if k.StatusFn != "" {
						o.KillPodOptions.PodStatusFunc = func(p *v1.PodStatus) { p.Reason = k.StatusFn }
					}
					if k.Completed != "" {
						ch := make(chan struct{})
						pending[k.Completed] = ch
						o.KillPodOptions.CompletedCh = ch
					}
				}
				w.UpdatePod(ctx, o)
			case "killPodNow":
				known[st.Pod.UID] = true
				names[st.Pod.Name+"_"+st.Pod.Namespace] = true
				given, k := st.Pod.DeepCopy(), *st.Kill
				var fn func(*v1.PodStatus)
				if k.StatusFn != "" {
					fn = func(p *v1.PodStatus) { p.Reason = k.StatusFn }
				}
				go func() {
					back := killed{Name: k.Completed}
					if err := killNow(given, k.Evict, k.GracePeriod, fn); err != nil {
						back.Error = err.Error()
					}
					s.Lock()
					defer s.Unlock()
					back.At = s.since()
					kills = append(kills, back)
				}()
			case "syncKnownPods":
				var pods []*v1.Pod
				for _, u := range st.PodUIDs {
					p := desired[u]
					if p == nil {
						p = &v1.Pod{}
						p.UID = u
					}
					pods = append(pods, p)
				}
				view := map[types.UID]knownWorker{}
				for u, k := range w.SyncKnownPods(logger, pods) {
					view[u] = knownWorker{k.State.String(), k.Orphan, k.HasConfig, k.Static}
				}
				out.Known = &view
			case "syncer.plan":
				s.Lock()
				key := st.Fn + " " + string(st.PodUID)
				s.plans[key] = append(s.plans[key], st.Plan...)
				s.Unlock()
			case "syncer.release":
				s.Lock()
				for _, ch := range s.blocked[st.PodUID] {
					close(ch)
				}
				s.blocked[st.PodUID] = nil
				s.Unlock()
			case "runtime.running":
				cache.running[st.PodUID] = st.Value
			case "runtime.fail":
				cache.fails[st.PodUID] += st.Times
			case "advance":
				time.Sleep(time.Duration(st.Seconds) * time.Second)
			default:
				failure = fmt.Errorf("unknown op %s", st.Op)
			}
			synctest.Wait()
			s.Lock()
			out.Calls = append([]workerCall{}, s.calls...)
			out.Requeue = append([]requeue{}, q.list...)
			out.Killed = append([]killed{}, kills...)
			s.Unlock()
			sort.SliceStable(out.Calls, func(i, j int) bool { return out.Calls[i].PodUID < out.Calls[j].PodUID })
			sort.SliceStable(out.Requeue, func(i, j int) bool { return out.Requeue[i].PodUID < out.Requeue[j].PodUID })
			for more := true; more; {
				select {
				case e := <-rec.Events:
					out.Events = append(out.Events, e)
				default:
					more = false
				}
			}
			sort.Strings(out.Events)
			sort.Slice(out.Killed, func(i, j int) bool { return out.Killed[i].Name < out.Killed[j].Name })
			for id, ch := range pending {
				select {
				case <-ch:
					out.Completed = append(out.Completed, id)
					delete(pending, id)
				default:
				}
			}
			sort.Strings(out.Completed)
			for u := range known {
				answers := []string{}
				for _, a := range []struct {
					name string
					ask  func(types.UID) bool
				}{
					{"IsPodKnownTerminated", w.IsPodKnownTerminated},
					{"CouldHaveRunningContainers", w.CouldHaveRunningContainers},
					{"ShouldPodBeFinished", w.ShouldPodBeFinished},
					{"IsPodTerminationRequested", w.IsPodTerminationRequested},
					{"ShouldPodContainersBeTerminating", w.ShouldPodContainersBeTerminating},
					{"ShouldPodRuntimeBeRemoved", w.ShouldPodRuntimeBeRemoved},
					{"ShouldPodContentBeRemoved", w.ShouldPodContentBeRemoved},
				} {
					if a.ask(u) {
						answers = append(answers, a.name)
					}
				}
				if view, seen := last[u]; !seen || view != strings.Join(answers, ",") {
					last[u] = strings.Join(answers, ",")
					if out.Answers == nil {
						out.Answers = map[types.UID][]string{}
					}
					out.Answers[u] = answers
				}
			}
			mirrors := []string{}
			for n := range names {
				if w.IsPodForMirrorPodTerminatingByFullName(n) {
					mirrors = append(mirrors, n)
				}
			}
			sort.Strings(mirrors)
			if b, _ := json.Marshal(mirrors); string(b) != lastMirrors {
				lastMirrors = string(b)
				out.MirrorTerminating = &mirrors
			}
			st.Expect = out
		}
		// let everything under way end, then the goroutines
		s.Lock()
		s.closing = true
		for _, l := range s.blocked {
			for _, ch := range l {
				close(ch)
			}
		}
		s.blocked = map[types.UID][]chan struct{}{}
		s.Unlock()
		time.Sleep(time.Hour)
		synctest.Wait()
		kubelet.OracleStopPodWorkers(w)
		synctest.Wait()
	})
	return sc, failure
}
