package agentpeer

// "probe": the probe manager with exec probes whose answers are scripted, in virtual time.

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
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"
	utilexec "k8s.io/utils/exec"
)

func init() { players["probe"] = playProbe }

type probeStep struct {
	Op string `json:"op"` // add | status | noStatus | answer | advance | stopLivenessAndStartup | remove | cleanup | updatePodStatus
	// Pod for add
	Pod    *v1.Pod       `json:"pod,omitempty"`
	Status *v1.PodStatus `json:"status,omitempty"`
	// Probe: the command of the probe, "liveness a" for the liveness probe of container a; Answer: ok | fail | error
	Probe   string        `json:"probe,omitempty"`
	Answer  string        `json:"answer,omitempty"`
	Seconds int           `json:"seconds,omitempty"`
	Keep    bool          `json:"keep,omitempty"`
	Expect  *probeOutcome `json:"expect,omitempty"`
}

type probeRun struct {
	Probe       string  `json:"probe"`
	ContainerID string  `json:"containerID"`
	Answer      string  `json:"answer"`
	At          float64 `json:"at"`
}

type probeUpdate struct {
	Type        string  `json:"type"` // liveness | readiness | startup
	ContainerID string  `json:"containerID"`
	Result      string  `json:"result"`
	At          float64 `json:"at"`
}

type probeOutcome struct {
	Runs    []probeRun    `json:"runs,omitempty"`
	Updates []probeUpdate `json:"updates,omitempty"`
	Events  []string      `json:"events,omitempty"`
	// Results: what is known of each container id, as "liveness ID": result; left out where as after the step before
	Results *map[string]string `json:"results,omitempty"`
	// Containers: of updatePodStatus, name to [started, ready]
	Containers map[string][2]bool `json:"containers,omitempty"`
}

type probeScenario struct {
	Name  string       `json:"name"`
	Kind  string       `json:"kind"`
	Steps []*probeStep `json:"steps"`
}

type probeStatuses struct {
	status.Manager
	sync.Mutex
	current *v1.PodStatus
}

func (m *probeStatuses) GetPodStatus(types.UID) (v1.PodStatus, bool) {
	m.Lock()
	defer m.Unlock()
	if m.current == nil {
		return v1.PodStatus{}, false
	}
	return *m.current.DeepCopy(), true
}

type probeRunner struct {
	sync.Mutex
	began   time.Time
	answers map[string]string
	runs    []probeRun
}

func (r *probeRunner) RunInContainer(_ context.Context, id kubecontainer.ContainerID, cmd []string, _ time.Duration) ([]byte, error) {
	r.Lock()
	defer r.Unlock()
	probe := strings.Join(cmd, " ")
	answer := r.answers[probe]
	if answer == "" {
		answer = "ok"
	}
	r.runs = append(r.runs, probeRun{probe, id.String(), answer, time.Since(r.began).Seconds()})
	switch answer {
	case "fail":
		return []byte("bad"), utilexec.CodeExitError{Err: errors.New("exit"), Code: 1}
	case "error":
		return nil, errors.New("no such runtime")
	}
	return []byte("fine"), nil
}

func playProbe(t *testing.T, line []byte) (any, error) {
	var sc probeScenario
	if err := json.Unmarshal(line, &sc); err != nil {
		return nil, err
	}
	var failure error
	synctest.Test(t, func(*testing.T) {
		ctx := context.Background()
		m := &probeStatuses{}
		runner := &probeRunner{answers: map[string]string{}}
		rec := record.NewFakeRecorder(10000)
		managers := map[string]results.Manager{"liveness": results.NewManager(), "readiness": results.NewManager(), "startup": results.NewManager()}
		p := prober.NewManager(m, managers["liveness"], managers["readiness"], managers["startup"], runner, rec)
		// past the time in which workers wait for a random while
		time.Sleep(100 * time.Second)
		began := time.Now()
		runner.began = began
		var lock sync.Mutex
		var updates []probeUpdate
		stop := make(chan struct{})
		for kind, r := range managers {
			go func() {
				for {
					select {
					case u := <-r.Updates():
						lock.Lock()
						updates = append(updates, probeUpdate{kind, u.ContainerID.String(), u.Result.String(), time.Since(began).Seconds()})
						lock.Unlock()
					case <-stop:
						return
					}
				}
			}()
		}
		ids := map[string]bool{}
		var pod *v1.Pod
		last := "{}"
		for _, s := range sc.Steps {
			lock.Lock()
			updates = nil
			lock.Unlock()
			runner.Lock()
			runner.runs = nil
			runner.Unlock()
			out := &probeOutcome{}
			switch s.Op {
			case "add":
				pod = s.Pod.DeepCopy()
				p.AddPod(ctx, pod)
			case "status":
				st := s.Status.DeepCopy()
				m.Lock()
				m.current = st
				m.Unlock()
				for _, c := range append(append([]v1.ContainerStatus{}, st.ContainerStatuses...), st.InitContainerStatuses...) {
					ids[c.ContainerID] = true
				}
			case "noStatus":
				m.Lock()
				m.current = nil
				m.Unlock()
			case "answer":
				runner.Lock()
				runner.answers[s.Probe] = s.Answer
				runner.Unlock()
			case "advance":
				// a little more, so that no probe is due at the very end of a step
				time.Sleep(time.Duration(s.Seconds)*time.Second + time.Millisecond)
			case "stopLivenessAndStartup":
				p.StopLivenessAndStartup(pod)
			case "remove":
				p.RemovePod(pod)
			case "cleanup":
				keep := map[types.UID]sets.Empty{}
				if s.Keep {
					keep[pod.UID] = sets.Empty{}
				}
				p.CleanupPods(keep)
			case "updatePodStatus":
				if m.current != nil {
					st := m.current.DeepCopy()
					given := pod.DeepCopy()
					given.Status = *m.current.DeepCopy()
					p.UpdatePodStatus(ctx, given, st)
					out.Containers = map[string][2]bool{}
					for _, c := range append(append([]v1.ContainerStatus{}, st.ContainerStatuses...), st.InitContainerStatuses...) {
						out.Containers[c.Name] = [2]bool{c.Started != nil && *c.Started, c.Ready}
					}
				}
			default:
				failure = fmt.Errorf("unknown op %s", s.Op)
			}
			synctest.Wait()
			lock.Lock()
			out.Updates = append([]probeUpdate{}, updates...)
			lock.Unlock()
			runner.Lock()
			out.Runs = append([]probeRun{}, runner.runs...)
			runner.Unlock()
			sort.SliceStable(out.Updates, func(i, j int) bool {
				a, b := out.Updates[i], out.Updates[j]
				return a.Type+" "+a.ContainerID < b.Type+" "+b.ContainerID
			})
			sort.SliceStable(out.Runs, func(i, j int) bool { return out.Runs[i].Probe < out.Runs[j].Probe })
			for more := true; more; {
				select {
				case e := <-rec.Events:
					out.Events = append(out.Events, e)
				default:
					more = false
				}
			}
			sort.Strings(out.Events)
			view := map[string]string{}
			for kind, r := range managers {
				for id := range ids {
					if got, ok := r.Get(kubecontainer.ParseContainerID(id)); ok {
						view[kind+" "+id] = got.String()
					}
				}
			}
			if b, _ := json.Marshal(view); string(b) != last {
				last = string(b)
				out.Results = &view
			}
			s.Expect = out
		}
		p.CleanupPods(nil)
		time.Sleep(10 * time.Minute)
		close(stop)
		synctest.Wait()
	})
	return sc, failure
}
