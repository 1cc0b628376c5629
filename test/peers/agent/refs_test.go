package agentpeer

// "refs": the managers of secrets and configmaps (cache-based and watch-based) against a fake apiserver in virtual time.
// "refNames": which secrets and configmaps a pod names.

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	core "k8s.io/client-go/testing"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/kubelet/configmap"
	"k8s.io/kubernetes/pkg/kubelet/secret"
)

func init() {
	players["refs"] = playRefs
	players["refNames"] = playRefNames
}

type refObject struct {
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	Value           string `json:"value,omitempty"`
	Immutable       bool   `json:"immutable,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

type refStep struct {
	Op        string      `json:"op"`
	Pod       *v1.Pod     `json:"pod,omitempty"`
	Namespace string      `json:"namespace,omitempty"`
	Name      string      `json:"name,omitempty"`
	Object    *refObject  `json:"object,omitempty"`
	Verb      string      `json:"verb,omitempty"`
	Code      int         `json:"code,omitempty"`
	Times     int         `json:"times,omitempty"`
	Seconds   *int        `json:"seconds,omitempty"`
	Expect    *refOutcome `json:"expect,omitempty"`
}

type refAction struct {
	Verb                 string `json:"verb"` // get | list | watch | stopWatch
	Namespace            string `json:"namespace"`
	Name                 string `json:"name,omitempty"`
	FieldSelector        string `json:"fieldSelector,omitempty"`
	ResourceVersion      string `json:"resourceVersion,omitempty"`
	ResourceVersionMatch string `json:"resourceVersionMatch,omitempty"`
	SendInitialEvents    *bool  `json:"sendInitialEvents,omitempty"`
	Bookmarks            bool   `json:"allowWatchBookmarks,omitempty"`
	Limit                int64  `json:"limit,omitempty"`
	Error                int    `json:"error,omitempty"`
}

type refError struct {
	Kind    string `json:"kind"` // notRegistered | notFound | syncTimeout | api
	Message string `json:"message"`
}

type refOutcome struct {
	Actions []refAction `json:"actions,omitempty"`
	Object  *refObject  `json:"object,omitempty"`
	Error   *refError   `json:"error,omitempty"`
	// WaitedMs: how long GetObject took in virtual time
	WaitedMs int64 `json:"waitedMs,omitempty"`
	// OpenWatches: "namespace/field selector" of each watch open after the step, left out where as after the step before
	OpenWatches *[]string `json:"openWatches,omitempty"`
}

type refScenario struct {
	Name           string     `json:"name"`
	Kind           string     `json:"kind"`
	Start          string     `json:"start,omitempty"`
	Resource       string     `json:"resource"` // secrets | configmaps
	Mode           string     `json:"mode"`     // cache | watch
	WatchList      bool       `json:"watchList,omitempty"`
	ResyncSeconds  int        `json:"resyncSeconds,omitempty"`
	NodeTTLSeconds *int       `json:"nodeTTLSeconds,omitempty"`
	Steps          []*refStep `json:"steps"`
}

// refServer is an apiserver with one kind of object, resource versions and watches.
type refServer struct {
	sync.Mutex
	resource string
	rv       int
	objects  map[string]refObject
	before   map[string]refObject // the version before the last
	stale    map[string]int
	fails    map[string][]int
	hold     map[string]bool // names whose streamed lists do not begin
	actions  []refAction
	watches  []*refWatch
}

type refWatch struct {
	server    *refServer
	namespace string
	selector  string
	ch        chan watch.Event
	closed    bool
	held      bool
}

func (w *refWatch) ResultChan() <-chan watch.Event { return w.ch }
func (w *refWatch) Stop() {
	w.server.Lock()
	defer w.server.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	close(w.ch)
	w.server.actions = append(w.server.actions, refAction{Verb: "stopWatch", Namespace: w.namespace, FieldSelector: w.selector})
	w.server.drop(w)
}

func (s *refServer) drop(w *refWatch) {
	for i, x := range s.watches {
		if x == w {
			s.watches = append(append([]*refWatch{}, s.watches[:i]...), s.watches[i+1:]...)
			return
		}
	}
}

func (s *refServer) api(o refObject) runtime.Object {
	meta := metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, ResourceVersion: o.ResourceVersion, UID: "u-" + "x"}
	var immutable *bool
	if o.Immutable {
		immutable = &o.Immutable
	}
	if s.resource == "secrets" {
		return &v1.Secret{ObjectMeta: meta, Immutable: immutable, Data: map[string][]byte{"v": []byte(o.Value)}}
	}
	return &v1.ConfigMap{ObjectMeta: meta, Immutable: immutable, Data: map[string]string{"v": o.Value}}
}

func back(o runtime.Object) *refObject {
	switch x := o.(type) {
	case *v1.Secret:
		return &refObject{x.Namespace, x.Name, string(x.Data["v"]), x.Immutable != nil && *x.Immutable, x.ResourceVersion}
	case *v1.ConfigMap:
		return &refObject{x.Namespace, x.Name, x.Data["v"], x.Immutable != nil && *x.Immutable, x.ResourceVersion}
	}
	return nil
}

func (s *refServer) matches(w *refWatch, o refObject) bool {
	return w.namespace == o.Namespace && w.selector == "metadata.name="+o.Name
}

func (s *refServer) notify(t watch.EventType, o refObject) {
	for _, w := range s.watches {
		if s.matches(w, o) && !w.held {
			w.ch <- watch.Event{Type: t, Object: s.api(o)}
		}
	}
}

// begin streams what there is, then says that this was all.
func (s *refServer) begin(w *refWatch) {
	if o, found := s.objects[w.namespace+"/"+strings.TrimPrefix(w.selector, "metadata.name=")]; found {
		w.ch <- watch.Event{Type: watch.Added, Object: s.api(o)}
	}
	mark := s.api(refObject{ResourceVersion: strconv.Itoa(s.rv)})
	mark.(metav1.Object).SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	w.ch <- watch.Event{Type: watch.Bookmark, Object: mark}
}

func (s *refServer) take(verb, name string) int {
	k := verb + " " + name
	if l := s.fails[k]; len(l) > 0 {
		s.fails[k] = l[1:]
		return l[0]
	}
	return 0
}

func (s *refServer) react(a core.Action) (bool, runtime.Object, error) {
	s.Lock()
	defer s.Unlock()
	r := refAction{Verb: a.GetVerb(), Namespace: a.GetNamespace()}
	switch x := a.(type) {
	case core.GetActionImpl:
		r.Name, r.ResourceVersion = x.Name, x.GetOptions.ResourceVersion
		r.Error = s.take("get", x.Name)
		key := r.Namespace + "/" + r.Name
		o, found := s.objects[key]
		if r.Error == 0 && !found {
			r.Error = 404
		}
		if old, ok := s.before[key]; ok && r.Error == 0 && s.stale[key] > 0 && r.ResourceVersion == "0" {
			s.stale[key]--
			o = old
		}
		s.actions = append(s.actions, r)
		if r.Error != 0 {
			// as a real clientset: an empty object beside the error
			var empty runtime.Object = &v1.Secret{}
			if s.resource == "configmaps" {
				empty = &v1.ConfigMap{}
			}
			return true, empty, apiError(r.Error, x.Name)
		}
		return true, s.api(o), nil
	case core.ListActionImpl:
		l := x.ListOptions
		r.FieldSelector, r.ResourceVersion, r.ResourceVersionMatch, r.Limit = l.FieldSelector, l.ResourceVersion, string(l.ResourceVersionMatch), l.Limit
		name := strings.TrimPrefix(l.FieldSelector, "metadata.name=")
		r.Error = s.take("list", name)
		s.actions = append(s.actions, r)
		if r.Error != 0 {
			return true, nil, apiError(r.Error, name)
		}
		meta := metav1.ListMeta{ResourceVersion: strconv.Itoa(s.rv)}
		o, found := s.objects[r.Namespace+"/"+name]
		if s.resource == "secrets" {
			list := &v1.SecretList{ListMeta: meta}
			if found {
				list.Items = append(list.Items, *s.api(o).(*v1.Secret))
			}
			return true, list, nil
		}
		list := &v1.ConfigMapList{ListMeta: meta}
		if found {
			list.Items = append(list.Items, *s.api(o).(*v1.ConfigMap))
		}
		return true, list, nil
	}
	return true, nil, fmt.Errorf("unexpected %s", a.GetVerb())
}

func (s *refServer) watch(a core.Action) (bool, watch.Interface, error) {
	s.Lock()
	defer s.Unlock()
	l := a.(core.WatchActionImpl).ListOptions
	r := refAction{Verb: "watch", Namespace: a.GetNamespace(), FieldSelector: l.FieldSelector, ResourceVersion: l.ResourceVersion,
		ResourceVersionMatch: string(l.ResourceVersionMatch), SendInitialEvents: l.SendInitialEvents, Bookmarks: l.AllowWatchBookmarks}
	name := strings.TrimPrefix(l.FieldSelector, "metadata.name=")
	r.Error = s.take("watch", name)
	s.actions = append(s.actions, r)
	if r.Error != 0 {
		return true, nil, apiError(r.Error, name)
	}
	w := &refWatch{server: s, namespace: r.Namespace, selector: r.FieldSelector, ch: make(chan watch.Event, 1000)}
	s.watches = append(s.watches, w)
	o, found := s.objects[r.Namespace+"/"+name]
	if l.SendInitialEvents != nil && *l.SendInitialEvents {
		w.held = s.hold[name]
		if !w.held {
			s.begin(w)
		}
	} else if from, _ := strconv.Atoi(l.ResourceVersion); found {
		// what the watcher missed
		if at, _ := strconv.Atoi(o.ResourceVersion); at > from {
			w.ch <- watch.Event{Type: watch.Modified, Object: s.api(o)}
		}
	}
	return true, w, nil
}

type refGetter struct {
	register, unregister func(*v1.Pod)
	get                  func(ns, name string) (runtime.Object, error)
}

// hides that the fake clientset cannot stream lists
type streaming struct{ kubernetes.Interface }

func playRefs(t *testing.T, line []byte) (any, error) {
	var sc refScenario
	if err := json.Unmarshal(line, &sc); err != nil {
		return nil, err
	}
	var failure error
	synctest.Test(t, func(*testing.T) {
		sc.Start = time.Now().UTC().Format(time.RFC3339)
		stop := make(chan struct{})
		never := wait.NeverStop
		// a channel of this bubble, so that the managers' endless loops end with the scenario
		wait.NeverStop = stop
		defer func() { wait.NeverStop = never }()
		server := &refServer{resource: sc.Resource, rv: 100, objects: map[string]refObject{}, before: map[string]refObject{}, stale: map[string]int{}, fails: map[string][]int{}, hold: map[string]bool{}}
		f := fake.NewSimpleClientset()
		f.PrependReactor("*", "*", server.react)
		f.PrependWatchReactor("*", server.watch)
		var client kubernetes.Interface = f
		if sc.WatchList {
			client = streaming{f}
		}
		ttl := sc.NodeTTLSeconds
		getTTL := func() (time.Duration, bool) {
			if ttl == nil {
				return 0, false
			}
			return time.Duration(*ttl) * time.Second, true
		}
		var g refGetter
		resync := time.Duration(sc.ResyncSeconds) * time.Second
		if sc.Resource == "secrets" {
			m := secret.NewCachingSecretManager(client, getTTL)
			if sc.Mode == "watch" {
				m = secret.NewWatchingSecretManager(client, resync)
			}
			g = refGetter{m.RegisterPod, m.UnregisterPod, func(ns, name string) (runtime.Object, error) {
				o, err := m.GetSecret(ns, name)
				return o, err
			}}
		} else {
			m := configmap.NewCachingConfigMapManager(client, getTTL)
			if sc.Mode == "watch" {
				m = configmap.NewWatchingConfigMapManager(client, resync)
			}
			g = refGetter{m.RegisterPod, m.UnregisterPod, func(ns, name string) (runtime.Object, error) {
				o, err := m.GetConfigMap(ns, name)
				return o, err
			}}
		}
		synctest.Wait()
		lastOpen := "[]"
		for _, s := range sc.Steps {
			server.Lock()
			server.actions = nil
			server.Unlock()
			out := &refOutcome{}
			switch s.Op {
			case "register":
				g.register(s.Pod.DeepCopy())
			case "unregister":
				g.unregister(s.Pod.DeepCopy())
			case "get":
				began := time.Now()
				o, err := g.get(s.Namespace, s.Name)
				out.WaitedMs = time.Since(began).Milliseconds()
				switch {
				case err == nil:
					out.Object = back(o)
				case apierrors.IsNotFound(err):
					out.Error = &refError{"notFound", err.Error()}
				case strings.Contains(err.Error(), "not registered"):
					out.Error = &refError{"notRegistered", err.Error()}
				case strings.Contains(err.Error(), "failed to sync"):
					out.Error = &refError{"syncTimeout", err.Error()}
				default:
					out.Error = &refError{"api", err.Error()}
				}
			case "server.put":
				server.Lock()
				server.rv++
				o := *s.Object
				o.ResourceVersion = strconv.Itoa(server.rv)
				s.Object.ResourceVersion = o.ResourceVersion
				key := o.Namespace + "/" + o.Name
				kind := watch.Added
				if old, ok := server.objects[key]; ok {
					server.before[key] = old
					kind = watch.Modified
				}
				server.objects[key] = o
				server.notify(kind, o)
				server.Unlock()
			case "server.delete":
				server.Lock()
				key := s.Namespace + "/" + s.Name
				if o, ok := server.objects[key]; ok {
					server.rv++
					o.ResourceVersion = strconv.Itoa(server.rv)
					delete(server.objects, key)
					delete(server.before, key)
					server.notify(watch.Deleted, o)
				}
				server.Unlock()
			case "server.stale":
				server.stale[s.Namespace+"/"+s.Name] += s.Times
			case "server.fail":
				for i := 0; i < s.Times; i++ {
					k := s.Verb + " " + s.Name
					server.fails[k] = append(server.fails[k], s.Code)
				}
			case "server.hold":
				server.hold[s.Name] = true
			case "server.letGo":
				server.Lock()
				delete(server.hold, s.Name)
				for _, w := range server.watches {
					if w.held && w.selector == "metadata.name="+s.Name {
						w.held = false
						server.begin(w)
					}
				}
				server.Unlock()
			case "server.closeWatches", "server.expireWatches":
				server.Lock()
				for _, w := range server.watches {
					if s.Op == "server.expireWatches" {
						status := apierrors.NewResourceExpired("too old").ErrStatus
						w.ch <- watch.Event{Type: watch.Error, Object: &status}
					}
					w.closed = true
					close(w.ch)
				}
				server.watches = nil
				server.Unlock()
			case "nodeTTL":
				ttl = s.Seconds
			case "advance":
				time.Sleep(time.Duration(*s.Seconds) * time.Second)
			default:
				failure = fmt.Errorf("unknown op %s", s.Op)
			}
			synctest.Wait()
			server.Lock()
			out.Actions = append([]refAction{}, server.actions...)
			open := []string{}
			for _, w := range server.watches {
				open = append(open, w.namespace+"/"+w.selector)
			}
			server.Unlock()
			name := func(a refAction) string {
				return a.Namespace + "/" + a.Name + strings.TrimPrefix(a.FieldSelector, "metadata.name=")
			}
			sort.SliceStable(out.Actions, func(i, j int) bool { return name(out.Actions[i]) < name(out.Actions[j]) })
			sort.Strings(open)
			if b, _ := json.Marshal(open); string(b) != lastOpen {
				lastOpen = string(b)
				out.OpenWatches = &open
			}
			s.Expect = out
		}
		close(stop)
		synctest.Wait()
	})
	return sc, failure
}

type refNamesCase struct {
	Kind string  `json:"kind"`
	Name string  `json:"name"`
	Pod  *v1.Pod `json:"pod"`
	Out  any     `json:"out,omitempty"`
}

func playRefNames(_ *testing.T, line []byte) (any, error) {
	var c refNamesCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	secrets, maps := sets.New[string](), sets.New[string]()
	podutil.VisitPodSecretNames(c.Pod, func(n string) bool { secrets.Insert(n); return true })
	podutil.VisitPodConfigmapNames(c.Pod, func(n string) bool { maps.Insert(n); return true })
	c.Out = map[string][]string{"secrets": sets.List(secrets), "configMaps": sets.List(maps)}
	return c, nil
}
