import { expect, it } from 'vitest';
import { volumeMetricsText } from '../../../../src/kubelet/server/volume-metrics.ts';

it('claimed volumes are told by the series of a kubelet, each claim once', () => {
  const pvcRef = { namespace: 'shop', name: 'disk' };
  const disk = { name: 'data', time: 't', capacityBytes: 100, usedBytes: 40, pvcRef };
  const other = { name: 'data', time: 't', capacityBytes: 7, pvcRef: { namespace: 'shop', name: 'other' } };
  expect(volumeMetricsText([disk, { ...disk, usedBytes: 41 }, other, { name: 'scratch', time: 't', usedBytes: 5 }])).toBe(
    [
      '# HELP kubelet_volume_stats_capacity_bytes Size of a claimed volume.',
      '# TYPE kubelet_volume_stats_capacity_bytes gauge',
      'kubelet_volume_stats_capacity_bytes{namespace="shop",persistentvolumeclaim="disk"} 100',
      'kubelet_volume_stats_capacity_bytes{namespace="shop",persistentvolumeclaim="other"} 7',
      '# HELP kubelet_volume_stats_used_bytes What is used of a claimed volume.',
      '# TYPE kubelet_volume_stats_used_bytes gauge',
      'kubelet_volume_stats_used_bytes{namespace="shop",persistentvolumeclaim="disk"} 40',
      '',
    ].join('\n'),
  );
  expect(volumeMetricsText([])).toBe('');
});
