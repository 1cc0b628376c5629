import { storageRules } from '../../support/storage/storage-judge.ts';
import type { StorageFaultReport } from './storage-faults.ts';

const mostDetails = 40;

/** True where every promise was kept. */
export function areClaimsSound({ findings, tookMs }: StorageFaultReport): boolean {
  return findings.length === 0 && tookMs !== undefined;
}

export function renderStorageReport(report: StorageFaultReport): string {
  const { seed, nodes, pods, claims, kills, pauses, made, refused, gaps, open, tookMs, versions, findings, broken } = report;
  const rows: [string, string | number][] = [
    ['cluster', `seed ${seed}, ${nodes} nodes in three zones, etcd, kube-apiserver, kube-controller-manager's binder of volumes`],
    [
      'pods',
      `${pods}, with ${claims} claims: ${claims - made} of volumes that are there, ${made} of new ones; ${refused} refused at first`,
    ],
    [
      'leaders',
      `${kills} killed, ${pauses} paused, with ${open.join(', ')} pods open${broken === undefined ? '' : `; broken on purpose: ${broken}`}`,
    ],
    ['next binding', `${gaps.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s after each`],
    ['versions', `${versions.volume} of volumes, ${versions.claim} of claims, ${versions.pod} of pods, each judged`],
    ...storageRules.map((rule): [string, number] => [rule, findings.filter((found) => found.rule === rule).length]),
    ['all ran', tookMs === undefined ? 'never' : `after ${(tookMs / 1000).toFixed(1)} s`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const details = findings.slice(0, mostDetails).map(({ rule, detail }) => `  ${rule}: ${detail}`);
  const more = findings.length > mostDetails ? [`  and ${findings.length - mostDetails} more`] : [];
  return [...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`), ...details, ...more].join('\n');
}
