package modern

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	harness "oracle-harness"
)

type volumeHintsCase struct {
	Kind   string        `json:"kind"`
	Name   string        `json:"name"`
	Pod    *v1.Pod       `json:"pod"`
	Events []volumeEvent `json:"events"`
}

type volumeEvent struct {
	Resource string          `json:"resource"`
	Action   string          `json:"action"`
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"`
}

var volumeActions = map[string]fwk.ActionType{"Add": fwk.Add, "Update": fwk.Update, "Delete": fwk.Delete, "UpdateNodeLabel": fwk.UpdateNodeLabel, "UpdateNodeTaint": fwk.UpdateNodeTaint, "UpdateNodeAllocatable": fwk.UpdateNodeAllocatable}

var volumeResources = map[string]fwk.EventResource{"StorageClass": fwk.StorageClass, "CSINode": fwk.CSINode, "CSIDriver": fwk.CSIDriver, "CSIStorageCapacity": fwk.CSIStorageCapacity, "VolumeAttachment": fwk.VolumeAttachment}

var volumePlugins = map[string]bool{"VolumeBinding": true, "VolumeZone": true, "NodeVolumeLimits": true, "VolumeRestrictions": true}

// playVolumeHints asks the volume plugins that are registered for an event whether it helps the pod.
func playVolumeHints(t *testing.T, line []byte) (any, error) {
	var c volumeHintsCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, err := build(ctx, &cluster{}, nil, nil)
	if err != nil {
		return nil, err
	}
	hints, err := scheduler.OracleHints(ctx, w.f.EnqueueExtensions())
	if err != nil {
		return nil, err
	}
	out := make([]map[string]string, 0, len(c.Events))
	for _, e := range c.Events {
		action, ok := volumeActions[e.Action]
		if !ok {
			return nil, fmt.Errorf("unknown action %q", e.Action)
		}
		before, err := volumeObject(e.Resource, e.Before)
		if err != nil {
			return nil, err
		}
		after, err := volumeObject(e.Resource, e.After)
		if err != nil {
			return nil, err
		}
		resource, ok := volumeResources[e.Resource]
		if !ok {
			resource = fwk.EventResource(e.Resource)
		}
		incoming := fwk.ClusterEvent{Resource: resource, ActionType: action}
		answers := map[string]string{}
		for registered, functions := range hints {
			if !framework.MatchClusterEvents(registered, incoming) {
				continue
			}
			for _, f := range functions {
				if !volumePlugins[f.PluginName] {
					continue
				}
				hint, err := f.QueueingHintFn(klog.FromContext(ctx), c.Pod, before, after)
				if err != nil {
					hint = fwk.Queue // as the queue does
				}
				if hint == fwk.Queue || answers[f.PluginName] == "Queue" {
					answers[f.PluginName] = "Queue"
				} else {
					answers[f.PluginName] = "Skip"
				}
			}
		}
		out = append(out, answers)
	}
	return harness.WithOut(line, out)
}

func volumeObject(resource string, raw json.RawMessage) (any, error) {
	if raw == nil {
		return nil, nil
	}
	switch resource {
	case "Pod":
		return decoded[v1.Pod](raw)
	case "Node":
		return decoded[v1.Node](raw)
	case "PersistentVolume":
		return decoded[v1.PersistentVolume](raw)
	case "PersistentVolumeClaim":
		return decoded[v1.PersistentVolumeClaim](raw)
	case "StorageClass":
		return decoded[storagev1.StorageClass](raw)
	case "CSINode":
		return decoded[storagev1.CSINode](raw)
	case "CSIDriver":
		return decoded[storagev1.CSIDriver](raw)
	case "CSIStorageCapacity":
		return decoded[storagev1.CSIStorageCapacity](raw)
	case "VolumeAttachment":
		return decoded[storagev1.VolumeAttachment](raw)
	}
	return nil, fmt.Errorf("unknown resource %q", resource)
}

func decoded[T any](raw json.RawMessage) (any, error) {
	object := new(T)
	return object, json.Unmarshal(raw, object)
}

func init() { players["volumeHints"] = playVolumeHints }
