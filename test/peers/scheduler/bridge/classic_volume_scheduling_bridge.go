package scheduling

// Exports for the oracle. Nothing here changes what upstream does.

import v1 "k8s.io/api/core/v1"

// OracleFill does what the informers' handlers of the binder's caches do: these informers are not run.
func OracleFill(b SchedulerVolumeBinder, volumes []*v1.PersistentVolume, claims []*v1.PersistentVolumeClaim) {
	x := b.(*volumeBinder)
	for _, o := range volumes {
		x.pvCache.(*pvAssumeCache).AssumeCache.(*assumeCache).add(o)
	}
	for _, o := range claims {
		x.pvcCache.(*pvcAssumeCache).AssumeCache.(*assumeCache).add(o)
	}
}

// OracleParts opens a binding.
func OracleParts(b *BindingInfo) (*v1.PersistentVolumeClaim, *v1.PersistentVolume) { return b.pvc, b.pv }
