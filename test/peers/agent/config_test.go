package agentpeer

// "config": lists of pods from several sources through PodConfig; "manifest": one manifest through the static pod decoder.

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
)

func init() {
	players["config"] = playConfig
	players["manifest"] = playManifest
}

type configStep struct {
	Op      string         `json:"op"` // source | set | advance
	Source  string         `json:"source,omitempty"`
	Pods    []*v1.Pod      `json:"pods,omitempty"`
	Seconds int            `json:"seconds,omitempty"`
	Expect  *configOutcome `json:"expect,omitempty"`
}

type configUpdate struct {
	Op     string    `json:"op"`
	Source string    `json:"source"`
	Pods   []*v1.Pod `json:"pods"`
}

type configOutcome struct {
	Updates []configUpdate `json:"updates,omitempty"`
	Events  []string       `json:"events,omitempty"`
	// Watched: pods reported to the start-up observer, in order
	Watched []types.UID `json:"watched,omitempty"`
	// Seen: SeenAllSources for each of the scenario's seenSets
	Seen []bool `json:"seen"`
}

type configScenario struct {
	Name     string        `json:"name"`
	Kind     string        `json:"kind"`
	Start    string        `json:"start,omitempty"`
	SeenSets [][]string    `json:"seenSets"`
	Steps    []*configStep `json:"steps"`
}

type watched struct{ list []types.UID }

func (w *watched) ObservedPodOnWatch(pod *v1.Pod, _ time.Time) { w.list = append(w.list, pod.UID) }

var opNames = map[kubetypes.PodOperation]string{
	kubetypes.ADD: "ADD", kubetypes.DELETE: "DELETE", kubetypes.REMOVE: "REMOVE", kubetypes.UPDATE: "UPDATE", kubetypes.RECONCILE: "RECONCILE",
}

func playConfig(t *testing.T, line []byte) (any, error) {
	var sc configScenario
	if err := json.Unmarshal(line, &sc); err != nil {
		return nil, err
	}
	synctest.Test(t, func(*testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		sc.Start = time.Now().UTC().Format(time.RFC3339)
		rec := record.NewFakeRecorder(100)
		w := &watched{}
		c := config.NewPodConfig(rec, w)
		sources, closers := map[string]func([]*v1.Pod){}, []func(){}
		for _, s := range sc.Steps {
			w.list = nil
			out := &configOutcome{}
			switch s.Op {
			case "source":
				send, done := config.OracleSource(ctx, c, s.Source)
				if sources[s.Source] == nil {
					closers = append(closers, done)
				}
				sources[s.Source] = send
			case "set":
				var pods []*v1.Pod
				for _, p := range s.Pods {
					pods = append(pods, p.DeepCopy())
				}
				sources[s.Source](pods)
			case "advance":
				time.Sleep(time.Duration(s.Seconds) * time.Second)
			default:
				panic("unknown op " + s.Op)
			}
			synctest.Wait()
			for more := true; more; {
				select {
				case u := <-c.Updates():
					if u.Op == kubetypes.REMOVE {
						// removed pods come in Go's map order
						sort.Slice(u.Pods, func(i, j int) bool { return u.Pods[i].UID < u.Pods[j].UID })
					}
					out.Updates = append(out.Updates, configUpdate{opNames[u.Op], u.Source, u.Pods})
				case e := <-rec.Events:
					out.Events = append(out.Events, e)
				default:
					more = false
				}
			}
			out.Watched = w.list
			for _, set := range sc.SeenSets {
				out.Seen = append(out.Seen, c.SeenAllSources(sets.New(set...)))
			}
			s.Expect = out
		}
		cancel()
		for _, done := range closers {
			done()
		}
	})
	return sc, nil
}

type manifestCase struct {
	Kind     string         `json:"kind"`
	Name     string         `json:"name"`
	Manifest string         `json:"manifest"`
	List     bool           `json:"list,omitempty"`
	Source   string         `json:"source"`
	IsFile   bool           `json:"isFile"`
	NodeName types.NodeName `json:"nodeName"`
	Out      any            `json:"out,omitempty"`
}

func playManifest(_ *testing.T, line []byte) (any, error) {
	var c manifestCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	out := map[string]any{}
	var err error
	var parsed bool
	if c.List {
		var l v1.PodList
		parsed, l, err = config.OracleDecodeList([]byte(c.Manifest), c.Source, c.NodeName)
		if err == nil {
			out["pods"] = l.Items
		}
	} else {
		var p *v1.Pod
		parsed, p, err = config.OracleDecode([]byte(c.Manifest), c.Source, c.IsFile, c.NodeName)
		if err == nil {
			out["pod"] = p
		}
	}
	out["parsed"] = parsed
	generated := func(p *v1.Pod) {
		if b, err := hex.DecodeString(string(p.UID)); err == nil && len(b) == 16 {
			out["generatedUIDs"] = append(out["generatedUIDs"].([]types.UID), p.UID)
		}
	}
	out["generatedUIDs"] = []types.UID{}
	if p, ok := out["pod"].(*v1.Pod); ok {
		generated(p)
	}
	if l, ok := out["pods"].([]v1.Pod); ok {
		for i := range l {
			generated(&l[i])
		}
	}
	if len(out["generatedUIDs"].([]types.UID)) == 0 {
		delete(out, "generatedUIDs")
	}
	if err != nil {
		out["error"] = err.Error()
	}
	c.Out = out
	return c, nil
}
