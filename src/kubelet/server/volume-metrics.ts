// Behaviour of pkg/kubelet/metrics/collectors/volume_stats.go, v1.36.3.

import type { VolumeStats } from '../../node/server/stats-types.ts';

type Measure = Exclude<keyof VolumeStats, 'name' | 'time' | 'pvcRef'>;

const gauges: readonly (readonly [name: string, of: Measure, help: string])[] = [
  ['capacity_bytes', 'capacityBytes', 'Size of a claimed volume.'],
  ['available_bytes', 'availableBytes', 'What is left of a claimed volume.'],
  ['used_bytes', 'usedBytes', 'What is used of a claimed volume.'],
  ['inodes', 'inodes', 'All inodes of a claimed volume.'],
  ['inodes_free', 'inodesFree', 'Inodes of a claimed volume that are left.'],
  ['inodes_used', 'inodesUsed', 'Inodes of a claimed volume that are used.'],
];

/** How full claimed volumes are, as the series that dashboards and alerts read of a kubelet. Each claim once, however many pods have it. */
export function volumeMetricsText(volumes: readonly VolumeStats[]): string {
  const byClaim = new Map<string, VolumeStats>();
  for (const volume of volumes) {
    if (volume.pvcRef === undefined) continue;
    const { namespace, name } = volume.pvcRef;
    const labels = `{namespace=${JSON.stringify(namespace)},persistentvolumeclaim=${JSON.stringify(name)}}`;
    if (!byClaim.has(labels)) byClaim.set(labels, volume);
  }
  const lines: string[] = [];
  for (const [name, of, help] of gauges) {
    const measured = [...byClaim].filter(([, volume]) => volume[of] !== undefined);
    if (measured.length === 0) continue;
    const full = `kubelet_volume_stats_${name}`;
    lines.push(`# HELP ${full} ${help}`, `# TYPE ${full} gauge`);
    for (const [labels, volume] of measured) lines.push(`${full}${labels} ${volume[of]}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}
