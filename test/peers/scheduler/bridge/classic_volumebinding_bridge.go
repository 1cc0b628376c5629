package volumebinding

// Exports for the oracle. Nothing here changes what upstream does.

import (
	"k8s.io/kubernetes/pkg/controller/volume/scheduling"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// OracleReserved tells what Reserve has kept for the node: whether nothing is to be done, and what is taken.
func OracleReserved(cs *framework.CycleState, nodeName string) (allBound bool, volumes *scheduling.PodVolumes, err error) {
	s, err := getStateData(cs)
	if err != nil {
		return false, nil, err
	}
	volumes = s.podVolumesByNode[nodeName]
	if volumes == nil {
		volumes = &scheduling.PodVolumes{}
	}
	return s.allBound, volumes, nil
}
