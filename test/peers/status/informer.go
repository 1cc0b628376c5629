package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// The annotation of the bookmark after the objects that a streamed list begins with.
const initialEventsEnd = "k8s.io/initial-events-end"

// podOfServer is a pod as a cluster has it: created by a controller, defaulted, with managed fields and a status.
func podOfServer(i, version int) *v1.Pod {
	p := podFor("bench", "node-a", i)
	p.Kind, p.APIVersion = "Pod", "v1"
	p.UID = types.UID(fmt.Sprintf("0f1e2d3c-0000-4000-8000-%012d", i))
	p.ResourceVersion = strconv.Itoa(version)
	p.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, i%60, 0, time.UTC))
	p.Labels = map[string]string{"app": "app-" + strconv.Itoa(i%50), "pod-template-hash": "7d9c" + strconv.Itoa(i%50)}
	yes := true
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "app-" + strconv.Itoa(i%50), UID: types.UID("r" + strconv.Itoa(i%50)), Controller: &yes}}
	fields := `{"f:metadata":{"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:image":{},"f:name":{},"f:env":{},"f:resources":{}}},"f:nodeName":{},"f:restartPolicy":{},"f:terminationGracePeriodSeconds":{}}}`
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &p.CreationTimestamp, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}},
		{Manager: "kubelet", Operation: "Update", APIVersion: "v1", Time: &p.CreationTimestamp, FieldsType: "FieldsV1", Subresource: "status", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}}
	for c := range p.Spec.Containers {
		p.Spec.Containers[c].Env = []v1.EnvVar{{Name: "POD_NAME", ValueFrom: &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}, {Name: "MODE", Value: "production"}}
		p.Spec.Containers[c].TerminationMessagePath, p.Spec.Containers[c].TerminationMessagePolicy, p.Spec.Containers[c].ImagePullPolicy = "/dev/termination-log", "File", "IfNotPresent"
		p.Spec.Containers[c].VolumeMounts = []v1.VolumeMount{{Name: "kube-api-access", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}}
	}
	p.Spec.RestartPolicy, p.Spec.DNSPolicy, p.Spec.ServiceAccountName, p.Spec.SchedulerName = "Always", "ClusterFirst", "default", "default-scheduler"
	p.Spec.Tolerations = []v1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute"}, {Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute"}}
	p.Status = statusFor(i, version%2, p.CreationTimestamp)
	return p
}

// podServer answers list and watch of pods from memory, as JSON or protobuf: a list or a streamed list of n pods at once, then,
// after a POST to /change, one change of each pod and so on, `events` in all, as fast as the connection takes them. Nothing else of it is an apiserver.
func podServer(n, events int) {
	bodies := map[bool]*podBodies{false: encodePods(n, events, false), true: encodePods(n, events, true)}
	change := make(chan chan struct{}, 16)
	var open atomic.Int32
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	fmt.Printf("{\"url\":\"http://%s\"}\n", listener.Addr())
	must(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/change" {
			for i := open.Load(); i > 0; i-- {
				done := make(chan struct{})
				change <- done
				<-done
			}
			return
		}
		query := r.URL.Query()
		asProtobuf := strings.Contains(r.Header.Get("Accept"), "protobuf")
		b := bodies[asProtobuf]
		contentType := apiruntime.ContentTypeJSON
		if asProtobuf {
			contentType = apiruntime.ContentTypeProtobuf
		}
		if query.Get("watch") == "" {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write(b.list)
			return
		}
		if asProtobuf {
			contentType += ";stream=watch"
		}
		w.Header().Set("Content-Type", contentType)
		if query.Get("sendInitialEvents") == "true" {
			_, _ = w.Write(b.initial)
		}
		w.(http.Flusher).Flush()
		open.Add(1)
		defer open.Add(-1)
		for {
			select {
			case done := <-change:
				_, _ = w.Write(b.changes)
				w.(http.Flusher).Flush()
				close(done)
			case <-r.Context().Done():
				return
			}
		}
	})))
}

type podBodies struct{ list, initial, changes []byte }

func encodePods(n, events int, asProtobuf bool) *podBodies {
	list := &v1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(n)}}
	b := &podBodies{}
	serializer := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	bytesOf := func(o apiruntime.Object) []byte {
		if !asProtobuf {
			j, err := json.Marshal(o)
			must(err)
			return j
		}
		w := &strings.Builder{}
		must(serializer.Encode(o, w))
		return []byte(w.String())
	}
	event := func(kind string, o apiruntime.Object) []byte {
		e := metav1.WatchEvent{Type: kind, Object: apiruntime.RawExtension{Raw: bytesOf(o)}}
		if !asProtobuf {
			j, err := json.Marshal(e)
			must(err)
			return append(j, '\n')
		}
		// a frame: the event's length, then the event without the envelope of whole objects
		w := &strings.Builder{}
		must(protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme).Encode(&e, w))
		return append(binary.BigEndian.AppendUint32(nil, uint32(w.Len())), w.String()...)
	}
	for i := 0; i < n; i++ {
		p := podOfServer(i, i+1)
		list.Items = append(list.Items, *p)
		b.initial = append(b.initial, event("ADDED", p)...)
	}
	b.list = bytesOf(list)
	b.initial = append(b.initial, event("BOOKMARK", &v1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(n), Annotations: map[string]string{initialEventsEnd: "true"}}})...)
	for i := 0; i < events; i++ {
		b.changes = append(b.changes, event("MODIFIED", podOfServer(i%n, n+1+i))...)
	}
	return b
}

// informer measures client-go's shared informer with one handler: the heap that each pod takes, and events a second.
func informer(t target, n, events int) {
	client, err := kubernetes.NewForConfig(t.config(100000))
	must(err)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(func(o any) (any, error) {
		// as its users do to save memory
		if p, ok := o.(*v1.Pod); ok {
			p.ManagedFields = nil
		}
		return o, nil
	}))
	pods := factory.Core().V1().Pods().Informer()
	updated := make(chan struct{})
	seen := 0
	var first time.Time
	_, err = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {
		if seen == 0 {
			first = time.Now()
		}
		if seen++; seen == events {
			close(updated)
		}
	}})
	must(err)
	before := heapBytes()
	stop := make(chan struct{})
	cpu, start := cpuSeconds(), time.Now()
	factory.Start(stop)
	cache.WaitForCacheSync(stop, pods.HasSynced)
	synced, syncCPU := time.Since(start).Seconds(), cpuSeconds()-cpu
	bytes := (int64(heapBytes()) - int64(before)) / int64(n)
	if got := len(pods.GetStore().List()); got != n {
		must(fmt.Errorf("%d pods instead of %d", got, n))
	}
	cpu = cpuSeconds()
	answer, err := http.Post(t.server+"/change", "", nil)
	must(err)
	answer.Body.Close()
	<-updated
	seconds := time.Since(first).Seconds()
	b, _ := json.Marshal(map[string]any{"syncSeconds": synced, "syncCPUSeconds": syncCPU, "bytesAnObject": bytes, "eventsASecond": float64(events) / seconds,
		"cpuUsAnEvent": (cpuSeconds() - cpu) * 1e6 / float64(events), "maxRSS": maxRSS()})
	fmt.Println(string(b))
	os.Exit(0)
}

func heapBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
