package modern

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	plfeature "k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	harness "oracle-harness"
)

type deviceName struct {
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	Device string `json:"device"`
}

func (d deviceName) id() structured.DeviceID {
	return structured.MakeDeviceID(d.Driver, d.Pool, d.Device)
}

type deviceShare struct {
	deviceName
	ShareID  types.UID                                       `json:"shareID"`
	Consumed map[resourceapi.QualifiedName]resource.Quantity `json:"consumedCapacity"`
}

type devicesCase struct {
	Slices    []*resourceapi.ResourceSlice `json:"slices"`
	Classes   deviceClasses                `json:"classes"`
	Claims    []*resourceapi.ResourceClaim `json:"claims"`
	Allocated struct {
		Devices []deviceName  `json:"devices"`
		Shares  []deviceShare `json:"shares"`
	} `json:"allocated"`
	Nodes []*v1.Node `json:"nodes"`
}

type deviceClasses []*resourceapi.DeviceClass

func (c deviceClasses) List() ([]*resourceapi.DeviceClass, error) { return c, nil }

func (c deviceClasses) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, fmt.Errorf("no class %s", name)
}

type nodeDevices struct {
	Results []resourceapi.AllocationResult `json:"results,omitempty"`
	// node: only this node cannot be judged; claims: the whole attempt fails
	Error string `json:"error,omitempty"`
	None  bool   `json:"none,omitempty"`
	// when the search was given up: two plays differ, so that the case is left out
	Late int64 `json:"late,omitempty"`
}

// playDevices asks one allocator about one node after the other.
func playDevices(t *testing.T, line []byte) (any, error) {
	var c devicesCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, d := range c.Allocated.Devices {
		state.AllocatedDevices.Insert(d.id())
	}
	for _, s := range c.Allocated.Shares {
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(s.id(), &s.ShareID))
		if s.Consumed != nil {
			state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(s.id(), s.Consumed))
		}
	}
	features := dynamicresources.AllocatorFeatures(plfeature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	cache := cel.NewCache(10, cel.Features{EnableConsumableCapacity: features.ConsumableCapacity, EnableListTypeAttributes: features.ListTypeAttributes})
	ctx := context.Background()
	allocator, err := structured.NewAllocator(ctx, features, state, c.Classes, c.Slices, cache)
	if err != nil {
		return nil, err
	}
	out := map[string]nodeDevices{}
	for _, node := range c.Nodes {
		limited, cancel := context.WithTimeout(ctx, time.Second)
		results, err := allocator.Allocate(limited, node, c.Claims)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			out[node.Name] = nodeDevices{Late: time.Now().UnixNano()}
		case errors.Is(err, structured.ErrFailedAllocationOnNode):
			out[node.Name] = nodeDevices{Error: "node"}
		case err != nil:
			out[node.Name] = nodeDevices{Error: "claims"}
		case len(results) != len(c.Claims):
			out[node.Name] = nodeDevices{None: true}
		default:
			nameShares(results)
			out[node.Name] = nodeDevices{Results: results}
		}
	}
	return harness.WithOut(line, out)
}

// nameShares replaces random ids of shares by their numbers.
func nameShares(results []resourceapi.AllocationResult) {
	n := 0
	for _, result := range results {
		for i := range result.Devices.Results {
			if r := &result.Devices.Results[i]; r.ShareID != nil {
				n++
				id := types.UID(fmt.Sprintf("share-%d", n))
				r.ShareID = &id
			}
		}
	}
}

func init() { players["devices"] = playDevices }
