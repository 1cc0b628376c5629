package agentpeer

// "mirror": the mirror pod client against a fake apiserver.

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	core "k8s.io/client-go/testing"
	kubepod "k8s.io/kubernetes/pkg/kubelet/pod"
)

func init() { players["mirror"] = playMirror }

type mirrorStep struct {
	Op        string         `json:"op"` // node | server.put | server.remove | server.fail | create | delete
	NodeUID   types.UID      `json:"nodeUID,omitempty"`
	NodeError string         `json:"nodeError,omitempty"`
	Pod       *v1.Pod        `json:"pod,omitempty"`
	Namespace string         `json:"namespace,omitempty"`
	Name      string         `json:"name,omitempty"`
	FullName  string         `json:"podFullName,omitempty"`
	UID       *types.UID     `json:"uid,omitempty"`
	Verb      string         `json:"verb,omitempty"`
	Code      int            `json:"code,omitempty"`
	Expect    *mirrorOutcome `json:"expect,omitempty"`
}

type mirrorCall struct {
	Verb      string                `json:"verb"`
	Namespace string                `json:"namespace"`
	Name      string                `json:"name"`
	Pod       *v1.Pod               `json:"pod,omitempty"`
	Options   *metav1.DeleteOptions `json:"options,omitempty"`
	Error     int                   `json:"error,omitempty"`
}

type mirrorOutcome struct {
	Calls   []mirrorCall `json:"calls,omitempty"`
	Deleted *bool        `json:"deleted,omitempty"`
	Error   string       `json:"error,omitempty"`
	// Server: "namespace/name" to uid and mirror hash, left out where it is as after the step before
	Server *map[string][2]string `json:"server,omitempty"`
}

type mirrorScenario struct {
	Name     string        `json:"name"`
	Kind     string        `json:"kind"`
	NodeName string        `json:"nodeName"`
	NoClient bool          `json:"noClient,omitempty"`
	Steps    []*mirrorStep `json:"steps"`
}

type nodes struct {
	uid types.UID
	err string
}

func (n *nodes) Get(name string) (*v1.Node, error) {
	if n.err != "" {
		return nil, fmt.Errorf("%s", n.err)
	}
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: n.uid}}, nil
}

func apiError(code int, name string) error {
	res := schema.GroupResource{Resource: "pods"}
	switch code {
	case 403:
		return apierrors.NewForbidden(res, name, fmt.Errorf("no"))
	case 404:
		return apierrors.NewNotFound(res, name)
	case 409:
		return apierrors.NewConflict(res, name, fmt.Errorf("precondition failed"))
	case 422:
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, name, nil)
	case 429:
		return apierrors.NewTooManyRequests("slow down", 1)
	case 504:
		return apierrors.NewTimeoutError("too slow", 1)
	case 4091:
		return apierrors.NewAlreadyExists(res, name)
	}
	return apierrors.NewInternalError(fmt.Errorf("injected"))
}

func playMirror(_ *testing.T, line []byte) (any, error) {
	var sc mirrorScenario
	if err := json.Unmarshal(line, &sc); err != nil {
		return nil, err
	}
	ctx := context.Background()
	server := map[string]*v1.Pod{}
	fails := map[string][]int{}
	var calls []mirrorCall
	client := fake.NewSimpleClientset()
	uids := 0
	client.PrependReactor("*", "*", func(a core.Action) (bool, runtime.Object, error) {
		c := mirrorCall{Verb: a.GetVerb(), Namespace: a.GetNamespace()}
		defer func() { calls = append(calls, c) }()
		take := func() int {
			if l := fails[c.Verb]; len(l) > 0 {
				fails[c.Verb] = l[1:]
				return l[0]
			}
			return 0
		}
		switch x := a.(type) {
		case core.CreateActionImpl:
			p := x.Object.(*v1.Pod).DeepCopy()
			c.Name, c.Pod = p.Name, p.DeepCopy()
			key := p.Namespace + "/" + p.Name
			if code := take(); code != 0 {
				c.Error = code
				return true, &v1.Pod{}, apiError(code, p.Name)
			}
			if old := server[key]; old != nil {
				// a real server's client answers with an empty pod beside the error; the fake one may hand the old pod back
				c.Error = 409
				return true, &v1.Pod{}, apiError(4091, p.Name)
			}
			uids++
			p.UID = types.UID(fmt.Sprintf("server-%d", uids))
			server[key] = p
			return true, p.DeepCopy(), nil
		case core.DeleteActionImpl:
			c.Name = x.Name
			o := x.DeleteOptions
			c.Options = &o
			key := c.Namespace + "/" + c.Name
			code := take()
			if code == 0 {
				switch old := server[key]; {
				case old == nil:
					code = 404
				case o.Preconditions != nil && o.Preconditions.UID != nil && *o.Preconditions.UID != old.UID:
					code = 409
				}
			}
			if code != 0 {
				c.Error = code
				return true, nil, apiError(code, c.Name)
			}
			delete(server, key)
			return true, &v1.Pod{}, nil
		}
		return true, nil, fmt.Errorf("unexpected %s", a.GetVerb())
	})
	n := &nodes{}
	var api kubernetes.Interface = client
	if sc.NoClient {
		api = nil
	}
	m := kubepod.NewBasicMirrorClient(api, sc.NodeName, n)
	last := ""
	for _, s := range sc.Steps {
		calls = nil
		out := &mirrorOutcome{}
		switch s.Op {
		case "node":
			n.uid, n.err = s.NodeUID, s.NodeError
		case "server.put":
			server[s.Pod.Namespace+"/"+s.Pod.Name] = s.Pod.DeepCopy()
		case "server.remove":
			delete(server, s.Namespace+"/"+s.Name)
		case "server.fail":
			fails[s.Verb] = append(fails[s.Verb], s.Code)
		case "create":
			given := s.Pod.DeepCopy()
			if err := m.CreateMirrorPod(ctx, given); err != nil {
				out.Error = err.Error()
			}
			if b1, _ := json.Marshal(given); true {
				if b2, _ := json.Marshal(s.Pod); string(b1) != string(b2) {
					return nil, fmt.Errorf("the given pod was changed")
				}
			}
		case "delete":
			done, err := m.DeleteMirrorPod(ctx, s.FullName, s.UID)
			out.Deleted = &done
			if err != nil {
				out.Error = err.Error()
			}
		default:
			return nil, fmt.Errorf("unknown op %s", s.Op)
		}
		out.Calls = calls
		view := map[string][2]string{}
		for k, p := range server {
			view[k] = [2]string{string(p.UID), p.Annotations["kubernetes.io/config.mirror"]}
		}
		if b, _ := json.Marshal(view); string(b) != last {
			last = string(b)
			out.Server = &view
		}
		s.Expect = out
	}
	return sc, nil
}
