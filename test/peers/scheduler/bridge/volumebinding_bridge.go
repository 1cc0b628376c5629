package volumebinding

// Exports for the oracle. Nothing here changes what upstream does.

import (
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// OracleBinding is a volume that is to belong to a claim, as it is assumed.
type OracleBinding struct {
	Claim  *v1.PersistentVolumeClaim
	Volume *v1.PersistentVolume
}

// OracleReserved tells what Reserve has kept for the node: whether nothing is to be done, the bindings, and the claims to provision.
func OracleReserved(cs fwk.CycleState, nodeName string) (allBound bool, bindings []OracleBinding, provisions []*v1.PersistentVolumeClaim, err error) {
	s, err := getStateData(cs)
	if err != nil {
		return false, nil, nil, err
	}
	if volumes := s.podVolumesByNode[nodeName]; volumes != nil {
		for _, b := range volumes.StaticBindings {
			bindings = append(bindings, OracleBinding{b.pvc, b.pv})
		}
		provisions = convertDynamicProvisionsToPVCs(volumes.DynamicProvisions)
	}
	return s.allBound, bindings, provisions, nil
}
