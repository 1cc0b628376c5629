import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { parseFlags } from '../../../examples/scheduler/flags.ts';
import { readSchedulerConfiguration } from '../../../src/scheduler.ts';
import { root } from '../../structure/source-tree.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly rules?: readonly { readonly resources: readonly string[]; readonly resourceNames?: readonly string[] }[];
  readonly subjects?: readonly object[];
  readonly spec?: { readonly template: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    readonly livenessProbe: { readonly httpGet: { readonly path: string; readonly port: number } };
    readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: number } };
  }[];
  readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
}

const manifests = (file: string) => loadAll(readFileSync(join(root, 'deploy', file), 'utf8')) as Manifest[];
const all = manifests('scheduler.yaml');
const one = (kind: string): Manifest => all.find((manifest) => manifest.kind === kind) as Manifest;
const spec = one('Deployment').spec?.template.spec as PodSpec;
const [container] = spec.containers;

describe('the deployment of a second scheduler', () => {
  it('has flags and a configuration that the example takes', () => {
    const flags = parseFlags(container?.args ?? []);
    if (flags === 'help') throw new Error('no flags');
    const mount = container?.volumeMounts.find(({ mountPath }) => flags.config?.startsWith(`${mountPath}/`));
    const name = spec.volumes.find((volume) => volume.name === mount?.name)?.configMap?.name;
    expect(name).toBe(one('ConfigMap').metadata.name);
    const file = flags.config?.slice(`${mount?.mountPath}/`.length) ?? '';
    const { options, withoutEffect } = readSchedulerConfiguration(one('ConfigMap').data?.[file] ?? '', flags.changes);
    expect(withoutEffect).toEqual([]);
    // neither the pods nor the Lease of kube-scheduler
    expect(options.profiles.map(({ schedulerName }) => schedulerName)).toEqual(['second-scheduler']);
    expect(options.leaderElection).toMatchObject({ name: 'second-scheduler', namespace: 'kube-system' });
    expect(one('Role').rules).toEqual([
      expect.objectContaining({ resources: ['leases'], resourceNames: ['second-scheduler'], verbs: ['get', 'update'] }),
    ]);
    expect(one('Role').metadata.namespace).toBe('kube-system');
  });

  it('is looked at by pages that everyone may read, on the port that it serves', () => {
    const { port } = (parseFlags(container?.args ?? []) as Exclude<ReturnType<typeof parseFlags>, 'help'>).serving?.options ?? {};
    const probes = [container?.livenessProbe.httpGet, container?.readinessProbe.httpGet];
    expect(probes.map((probe) => [probe?.path, probe?.port])).toEqual([
      ['/livez', port],
      ['/readyz', port],
    ]);
  });

  it('runs as the user that has the rights', () => {
    const account = manifests('scheduler-rbac.yaml').find(({ kind }) => kind === 'ServiceAccount');
    expect(spec.serviceAccountName).toBe(account?.metadata.name);
    const subjects = all.flatMap((manifest) => manifest.subjects ?? []);
    const { name, namespace } = account?.metadata ?? {};
    expect(subjects).toHaveLength(3);
    for (const subject of subjects) expect(subject).toEqual({ kind: 'ServiceAccount', name, namespace });
  });
});
