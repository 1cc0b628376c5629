package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/kubelet/secret"
)

// wire counts requests, and the watches among them.
type wire struct{ requests, watches atomic.Int64 }

type countedTrips struct {
	next http.RoundTripper
	wire *wire
}

func (t countedTrips) RoundTrip(q *http.Request) (*http.Response, error) {
	t.wire.requests.Add(1)
	answer, err := t.next.RoundTrip(q)
	if err == nil && q.URL.Query().Get("watch") != "" {
		t.wire.watches.Add(1)
	}
	return answer, err
}

// podWithSecrets names the secrets own-INDEX-0 … and the one that all pods share.
func podWithSecrets(ns string, i, secrets int) *v1.Pod {
	p := podFor(ns, "node-a", i)
	p.UID = types.UID(fmt.Sprintf("uid-%05d", i))
	for _, name := range secretsOf(i, secrets) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: name, VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: name}}})
	}
	return p
}

func secretsOf(i, secrets int) []string {
	names := []string{"shared"}
	for s := 1; s < secrets; s++ {
		names = append(names, fmt.Sprintf("own-%05d-%d", i, s))
	}
	return names
}

// secretManager measures the kubelet's manager of secrets, watching, from the first registration until every pod has read its secrets.
func secretManager(t target, ns string, pods, secrets int) {
	w := &wire{}
	// the kubelet's defaults; they do not hold back watches
	cfg := t.config(50)
	cfg.Burst = 100
	cfg.WrapTransport = func(next http.RoundTripper) http.RoundTripper { return countedTrips{next, w} }
	client, err := kubernetes.NewForConfig(cfg)
	must(err)
	manager := secret.NewWatchingSecretManager(client, time.Minute)
	all := make([]*v1.Pod, pods)
	for i := range all {
		all[i] = podWithSecrets(ns, i, secrets)
	}
	// a kubelet has a connection by the time that it has pods
	_, err = client.CoreV1().Namespaces().Get(context.Background(), ns, metav1.GetOptions{})
	must(err)
	w.requests.Store(0)
	cpu, start := cpuSeconds(), time.Now()
	for _, p := range all {
		manager.RegisterPod(p)
	}
	var read sync.WaitGroup
	for i := range all {
		read.Add(1)
		go func() {
			defer read.Done()
			for _, name := range secretsOf(i, secrets) {
				for {
					s, err := manager.GetSecret(ns, name)
					if err == nil {
						if string(s.Data["name"]) != name {
							must(fmt.Errorf("secret %s holds %q", name, s.Data["name"]))
						}
						break
					}
					// as a pod worker tries again
					time.Sleep(10 * time.Millisecond)
				}
			}
		}()
	}
	read.Wait()
	seconds, spent := time.Since(start).Seconds(), cpuSeconds()-cpu
	b, _ := json.Marshal(map[string]any{"seconds": seconds, "cpuSeconds": spent, "requests": w.requests.Load(), "watches": w.watches.Load(), "maxRSS": maxRSS()})
	fmt.Println(string(b))
}

// makeSecrets creates the secrets of the pods, each of a KiB.
func makeSecrets(admin *kubernetes.Clientset, ns string, pods, secrets int) {
	ctx := context.Background()
	_, _ = admin.CoreV1().Namespaces().Create(ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
	names := []string{"shared"}
	for i := 0; i < pods; i++ {
		names = append(names, secretsOf(i, secrets)[1:]...)
	}
	parallel(16, len(names), func(i int) {
		data := map[string][]byte{"name": []byte(names[i]), "value": make([]byte, 1024)}
		for k := range data["value"] {
			data["value"][k] = byte('a' + (i+k*7)%26)
		}
		_, err := admin.CoreV1().Secrets(ns).Create(ctx, &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: names[i]}, Data: data}, metav1.CreateOptions{})
		must(err)
	})
	fmt.Printf("{\"secrets\":%d}\n", len(names))
}
