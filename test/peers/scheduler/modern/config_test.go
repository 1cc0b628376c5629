package modern

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	componentbaseconfig "k8s.io/component-base/config"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	configv1 "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	harness "oracle-harness"
)

func init() { players["schedulerConfig"] = playConfig }

// configCase is the text of one configuration file.
type configCase struct {
	Text string `json:"text"`
}

// configOut is what kube-scheduler makes of it.
type configOut struct {
	Taken bool `json:"taken"`
	// Complete is the file with every default, where it is taken.
	Complete json.RawMessage `json:"complete,omitempty"`
}

func playConfig(t *testing.T, line []byte) (any, error) {
	var c configCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	return harness.WithOut(line, readConfig(t, []byte(c.Text)))
}

func readConfig(t *testing.T, text []byte) configOut {
	cfg, err := loadConfig(text)
	if err == nil {
		err = buildElector(cfg.LeaderElection)
	}
	if err == nil {
		err = buildScheduler(cfg.DeepCopy())
	}
	if err != nil {
		if os.Getenv("ORACLE_VERBOSE") != "" {
			fmt.Fprintln(os.Stderr, err)
		}
		return configOut{}
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	complete, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return configOut{Taken: true, Complete: complete}
}

// loadConfig does what cmd/kube-scheduler/app/options does with the text of a file.
func loadConfig(text []byte) (*config.KubeSchedulerConfiguration, error) {
	obj, gvk, err := scheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("got %s", gvk)
	}
	cfg.TypeMeta.APIVersion = gvk.GroupVersion().String()
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return nil, err
	}
	return cfg, nil
}

// buildScheduler makes a scheduler of the configuration, which starts nothing.
func buildScheduler(cfg *config.KubeSchedulerConfiguration) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := fake.NewClientset()
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	defer broadcaster.Shutdown()
	_, err := scheduler.New(ctx, client, informers.NewSharedInformerFactory(client, 0), nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithExtenders(cfg.Extenders...),
		scheduler.WithParallelism(cfg.Parallelism),
	)
	return err
}

// buildElector makes a leader elector of the configuration, if there is to be one.
func buildElector(given componentbaseconfig.LeaderElectionConfiguration) error {
	if !given.LeaderElect {
		return nil
	}
	_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "a"}},
		LeaseDuration: given.LeaseDuration.Duration,
		RenewDeadline: given.RenewDeadline.Duration,
		RetryPeriod:   given.RetryPeriod.Duration,
		Callbacks:     leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	return err
}
