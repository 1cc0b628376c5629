package eviction

// A bridge for the oracle: one look of the eviction manager, without its loop.

import (
	"context"

	v1 "k8s.io/api/core/v1"
)

// OracleLook does what the manager's loop does once. It answers with the pods that were evicted.
func OracleLook(ctx context.Context, m Manager, disks DiskInfoProvider, active ActivePodsFunc) ([]*v1.Pod, error) {
	return m.(*managerImpl).synchronize(ctx, disks, active)
}
