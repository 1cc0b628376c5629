package modern

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// What upstream's HTTPExtender asks a program over HTTP, byte by byte, and what it makes of the answers.

type extenderConfig struct {
	FilterVerb       string            `json:"filterVerb,omitempty"`
	PrioritizeVerb   string            `json:"prioritizeVerb,omitempty"`
	BindVerb         string            `json:"bindVerb,omitempty"`
	PreemptVerb      string            `json:"preemptVerb,omitempty"`
	Weight           int64             `json:"weight,omitempty"`
	NodeCacheCapable bool              `json:"nodeCacheCapable,omitempty"`
	ManagedResources []managedResource `json:"managedResources,omitempty"`
}

type managedResource struct {
	Name               string `json:"name"`
	IgnoredByScheduler bool   `json:"ignoredByScheduler,omitempty"`
}

type extenderAnswer struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
}

type extenderVictims struct {
	Pods             []string `json:"pods"` // uids
	NumPDBViolations int64    `json:"violations"`
}

// The objects are written as Go writes them: as a server would send them.
type extenderCase struct {
	Kind     string                     `json:"kind"`
	Name     string                     `json:"name"`
	Extender extenderConfig             `json:"extender"`
	Pod      *v1.Pod                    `json:"pod"`
	Nodes    []*v1.Node                 `json:"nodes"`
	Pods     []*v1.Pod                  `json:"pods"` // on nodes
	Victims  map[string]extenderVictims `json:"victims"`
	Answers  map[string]extenderAnswer  `json:"answers"` // by verb
	Out      *extenderOut               `json:"out"`
}

type extenderOut struct {
	Interested bool                       `json:"interested"`
	Requests   map[string]string          `json:"requests"` // by verb: METHOD PATH CONTENT-TYPE, a line break, and the body
	Failed     []string                   `json:"failed"`   // the verbs whose call ended with an error
	Nodes      []string                   `json:"nodes"`
	Refused    map[string]string          `json:"refused"`
	Unresolved map[string]string          `json:"unresolved"`
	Scores     map[string]int64           `json:"scores"`
	Weight     int64                      `json:"weight"`
	Victims    map[string]extenderVictims `json:"victims"`
}

func init() { players["extender"], players["extended"] = playExtender, playExtended }

func playExtender(t *testing.T, line []byte) (any, error) {
	var c extenderCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	out := &extenderOut{Requests: map[string]string{}, Failed: []string{}, Scores: map[string]int64{}, Victims: map[string]extenderVictims{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		verb := r.URL.Path[len("/prefix/"):]
		out.Requests[verb] = r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + "\n" + string(body)
		answer := c.Answers[verb]
		w.WriteHeader(answer.Status)
		io.WriteString(w, answer.Body)
	}))
	defer server.Close()
	x := c.Extender
	var managed []config.ExtenderManagedResource
	for _, m := range x.ManagedResources {
		managed = append(managed, config.ExtenderManagedResource(m))
	}
	extender, err := scheduler.NewHTTPExtender(&config.Extender{
		URLPrefix: server.URL + "/prefix/", FilterVerb: x.FilterVerb, PrioritizeVerb: x.PrioritizeVerb, BindVerb: x.BindVerb,
		PreemptVerb: x.PreemptVerb, Weight: x.Weight, NodeCacheCapable: x.NodeCacheCapable, ManagedResources: managed,
		HTTPTimeout: metav1.Duration{Duration: time.Minute},
	})
	if err != nil {
		return nil, err
	}
	snapshot := internalcache.NewSnapshot(c.Pods, c.Nodes)
	var nodes []fwk.NodeInfo
	for _, n := range c.Nodes {
		info, err := snapshot.NodeInfos().Get(n.Name)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, info)
	}
	out.Interested = extender.IsInterested(c.Pod)
	failed := func(verb string, err error) bool {
		if err != nil {
			out.Failed = append(out.Failed, verb)
		}
		return err != nil
	}
	if extender.IsFilter() {
		left, refused, unresolved, err := extender.Filter(c.Pod, nodes)
		if !failed(x.FilterVerb, err) {
			for _, n := range left {
				out.Nodes = append(out.Nodes, n.Node().Name)
			}
			out.Refused, out.Unresolved = refused, unresolved
		}
	}
	if extender.IsPrioritizer() {
		scores, weight, err := extender.Prioritize(c.Pod, nodes)
		if !failed(x.PrioritizeVerb, err) {
			for _, s := range *scores {
				out.Scores[s.Host] += s.Score
			}
			out.Weight = weight
		}
	}
	if extender.SupportsPreemption() {
		failed(x.PreemptVerb, playPreemption(&c, extender, snapshot, out))
	}
	if extender.IsBinder() {
		failed(x.BindVerb, extender.Bind(&v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Pod.Namespace, Name: c.Pod.Name, UID: c.Pod.UID},
			Target:     v1.ObjectReference{Kind: "Node", Name: c.Nodes[0].Name},
		}))
	}
	c.Out = out
	return c, nil
}

func playPreemption(c *extenderCase, extender fwk.Extender, snapshot *internalcache.Snapshot, out *extenderOut) error {
	given := map[string]*extenderv1.Victims{}
	for node, victims := range c.Victims {
		v := &extenderv1.Victims{NumPDBViolations: victims.NumPDBViolations}
		for _, uid := range victims.Pods {
			for _, p := range c.Pods {
				if string(p.UID) == uid {
					v.Pods = append(v.Pods, p)
				}
			}
		}
		given[node] = v
	}
	left, err := extender.ProcessPreemption(c.Pod, given, snapshot.NodeInfos())
	for node, victims := range left {
		v := extenderVictims{Pods: []string{}, NumPDBViolations: victims.NumPDBViolations}
		for _, p := range victims.Pods {
			v.Pods = append(v.Pods, string(p.UID))
		}
		out.Victims[node] = v
	}
	return err
}

// What becomes of a pod when several extenders have a say, which know the nodes by name.

type extendedCase struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	cluster
	Extenders []struct {
		extenderConfig
		Ignorable bool                      `json:"ignorable,omitempty"`
		Answers   map[string]extenderAnswer `json:"answers"`
	} `json:"extenders"`
	Pod *v1.Pod      `json:"pod"`
	Out *extendedOut `json:"out"`
}

type extendedOut struct {
	Asked     []string            `json:"asked"` // NUMBER/VERB: node names, sorted
	Error     bool                `json:"error"`
	Failed    map[string]*failure `json:"failed"`
	Rejectors []string            `json:"rejectors"`
	Message   string              `json:"message"`
	Feasible  []string            `json:"feasible"` // sorted
	Totals    map[string]int64    `json:"totals"`
}

func playExtended(t *testing.T, line []byte) (any, error) {
	var c extendedCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	c.Out = &extendedOut{Asked: []string{}, Failed: map[string]*failure{}, Totals: map[string]int64{}}
	var mutex sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderArgs
		_ = json.NewDecoder(r.Body).Decode(&args)
		number, verb, _ := strings.Cut(r.URL.Path[1:], "/")
		names := slices.Clone(*args.NodeNames)
		sort.Strings(names)
		mutex.Lock()
		c.Out.Asked = append(c.Out.Asked, number+"/"+verb+": "+strings.Join(names, " "))
		mutex.Unlock()
		i, _ := strconv.Atoi(number)
		answer := c.Extenders[i].Answers[verb]
		w.WriteHeader(answer.Status)
		io.WriteString(w, answer.Body)
	}))
	defer server.Close()
	var configs []config.Extender
	for i, x := range c.Extenders {
		var managed []config.ExtenderManagedResource
		for _, m := range x.ManagedResources {
			managed = append(managed, config.ExtenderManagedResource(m))
		}
		configs = append(configs, config.Extender{
			URLPrefix: server.URL + "/" + strconv.Itoa(i), FilterVerb: x.FilterVerb, PrioritizeVerb: x.PrioritizeVerb, Weight: x.Weight,
			NodeCacheCapable: true, ManagedResources: managed, Ignorable: x.Ignorable, HTTPTimeout: metav1.Duration{Duration: time.Minute},
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	profile, err := profileOf(nil)
	if err != nil {
		return nil, err
	}
	profiles := []config.KubeSchedulerProfile{*profile}
	extenders, err := scheduler.OracleBuildExtenders(ctx, configs, profiles)
	if err != nil {
		return nil, err
	}
	w, err := buildWith(ctx, &c.cluster, c.Pod, &profiles[0])
	if err != nil {
		return nil, err
	}
	info, err := framework.NewPodInfo(c.Pod)
	if err != nil {
		return nil, err
	}
	return c, c.Out.play(ctx, w, extenders, &framework.QueuedPodInfo{PodInfo: info}, len(c.Nodes))
}

func (out *extendedOut) play(ctx context.Context, w *world, extenders []fwk.Extender, pod *framework.QueuedPodInfo, all int) error {
	state := framework.NewCycleState()
	nodes, diagnosis, err := scheduler.OracleFindExtended(ctx, w.snapshot, extenders, w.f, state, pod)
	if err != nil {
		out.Error = true
		return nil
	}
	diagnosis.NodeToStatus.ForEachExplicitNode(func(name string, s *fwk.Status) { out.Failed[name] = fail(s) })
	out.Rejectors = slices.Sorted(maps.Keys(diagnosis.UnschedulablePlugins))
	for _, n := range nodes {
		out.Feasible = append(out.Feasible, n.Node().Name)
	}
	sort.Strings(out.Feasible)
	if len(nodes) == 0 {
		out.Message = (&framework.FitError{Pod: pod.Pod, NumAllNodes: all, Diagnosis: diagnosis}).Error()
		return nil
	}
	if len(nodes) > 1 {
		filtered := len(out.Asked)
		scores, err := scheduler.OraclePrioritizeExtended(ctx, extenders, w.f, state, pod, nodes)
		if err != nil {
			return err
		}
		sort.Strings(out.Asked[filtered:])
		for _, s := range scores {
			out.Totals[s.Name] = s.TotalScore
		}
	}
	return nil
}
