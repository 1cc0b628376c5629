import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { load } from 'js-yaml';
import type { WireNode, WirePod } from '../../src/api/json/types.ts';
import type { ChosenCase } from './chosen.ts';

/** What is done one after another; a churn goes on beside the steps after it. */
export type Step =
  | { readonly kind: 'nodes'; readonly template: WireNode; readonly count: number; readonly label?: NodeLabel }
  | { readonly kind: 'namespaces'; readonly names: readonly string[] }
  | {
      readonly kind: 'pods';
      readonly template: WirePod;
      readonly count: number;
      readonly namespace: string;
      readonly measured: boolean;
    }
  | { readonly kind: 'churn'; readonly templates: readonly WirePod[]; readonly namespace: string; readonly everyMs: number };

/** Nodes get these values in turn. */
export interface NodeLabel {
  readonly key: string;
  readonly values: readonly string[];
}

export interface PerfWorkload {
  readonly name: string;
  /** Such as `initNodes`, `initPods` and `measurePods`. */
  readonly params: Readonly<Record<string, number>>;
  readonly steps: readonly Step[];
  /** The case as upstream's harness reads it, with this one workload. */
  readonly upstream: UpstreamCase;
}

type Members = Readonly<Record<string, unknown>>;

interface UpstreamCase {
  readonly name: string;
  readonly defaultPodTemplatePath?: string;
  readonly workloadTemplate: readonly Members[];
  readonly workloads: readonly UpstreamSize[];
}

interface UpstreamSize {
  readonly name: string;
  readonly params: Readonly<Record<string, number>>;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly labels?: readonly string[];
  /** The least throughput, on upstream's machines. */
  readonly threshold?: unknown;
}

/** What the driver can do. A member that is not here would be passed over, so it is refused. */
const knownMembers: Readonly<Record<string, readonly string[]>> = {
  createNodes: ['count', 'countParam', 'nodeTemplatePath', 'labelNodePrepareStrategy'],
  createNamespaces: ['count', 'countParam', 'prefix'],
  createPods: ['count', 'countParam', 'namespace', 'podTemplatePath', 'collectMetrics'],
  churn: ['mode', 'templatePaths', 'intervalMilliseconds'],
};

/** The node and the pod that upstream's code makes where a case names no file. */
const resources = { pods: '110', cpu: '4', memory: '32Gi' };
const plainNode: WireNode = {
  metadata: { generateName: 'node-' },
  status: { capacity: resources, allocatable: resources, conditions: [{ type: 'Ready', status: 'True' }] },
};

const amounts = { cpu: '100m', memory: '500Mi' };
const plainPod: WirePod = {
  metadata: { generateName: 'pod-' },
  spec: {
    containers: [
      {
        name: 'pause',
        image: 'registry.k8s.io/pause:3.10.2',
        ports: [{ containerPort: 80 }],
        resources: { limits: amounts, requests: amounts },
      },
    ],
  },
};

/**
 * Reads one case of upstream's folder `scheduler_perf` with about so many nodes. Where upstream has no workload of that size, the
 * numbers of the next larger one (or of the largest) are taken in proportion.
 */
export async function readWorkload(root: string, name: string, chosen: ChosenCase, nodes: number): Promise<PerfWorkload> {
  const folder = join(root, chosen.folder);
  const cases = await readYaml<readonly UpstreamCase[]>(join(folder, 'performance-config.yaml'));
  const found = cases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${folder} has no case ${name}`);
  const [, base] = chosen.sizes.find(([size]) => size >= nodes) ?? chosen.sizes.at(-1) ?? [];
  const sized = found.workloads.find((one) => one.name === base);
  if (sized === undefined) throw new Error(`${name} has no workload ${base}`);
  const params = inProportion(sized.params, Math.min(nodes, chosen.mostNodes ?? nodes));
  const upstream = withWholePaths({ ...found, workloads: [{ ...sized, params }] }, folder);
  const steps = await Promise.all(upstream.workloadTemplate.map((op, index) => stepOf(op, index, upstream, params)));
  return { name, params, steps, upstream };
}

function inProportion(params: Readonly<Record<string, number>>, nodes: number): Readonly<Record<string, number>> {
  const factor = nodes / (params.initNodes ?? nodes);
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, Math.max(1, Math.round(value * factor))]));
}

function withWholePaths(found: UpstreamCase, folder: string): UpstreamCase {
  const text = JSON.stringify(found, (key, value) => {
    if (key === 'templatePaths') return (value as readonly string[]).map((path) => resolve(folder, path));
    return /TemplatePath$/.test(key) ? resolve(folder, value as string) : value;
  });
  return JSON.parse(text) as UpstreamCase;
}

async function stepOf(op: Members, index: number, found: UpstreamCase, params: PerfWorkload['params']): Promise<Step> {
  const { opcode, ...members } = op as Members & { opcode: string };
  const known = knownMembers[opcode];
  if (known === undefined) throw new Error(`${found.name}: the driver has no ${opcode}`);
  const unknown = Object.keys(members).find((member) => !known.includes(member));
  if (unknown !== undefined) throw new Error(`${found.name}: the driver has no ${opcode}.${unknown}`);
  const namespace = (members.namespace as string | undefined) ?? `namespace-${index}`;
  switch (opcode) {
    case 'createNodes': {
      const label = members.labelNodePrepareStrategy as { labelKey: string; labelValues: string[] } | undefined;
      const path = members.nodeTemplatePath as string | undefined;
      return {
        kind: 'nodes',
        template: path === undefined ? plainNode : await readTemplate<WireNode>(path),
        count: countOf(members, params),
        ...(label !== undefined && { label: { key: label.labelKey, values: label.labelValues } }),
      };
    }
    case 'createNamespaces': {
      const names = Array.from({ length: countOf(members, params) }, (_, number) => `${members.prefix}-${number}`);
      return { kind: 'namespaces', names };
    }
    case 'createPods': {
      const path = (members.podTemplatePath as string | undefined) ?? found.defaultPodTemplatePath;
      const template = path === undefined ? plainPod : await readTemplate<WirePod>(path);
      return { kind: 'pods', template, count: countOf(members, params), namespace, measured: members.collectMetrics === true };
    }
    default: {
      if (members.mode !== 'create') throw new Error(`${found.name}: the driver has no churn of mode ${members.mode}`);
      const paths = members.templatePaths as readonly string[];
      const templates = await Promise.all(paths.map((path) => readTemplate<WirePod>(path, 'Pod')));
      return { kind: 'churn', templates, namespace, everyMs: Number(members.intervalMilliseconds ?? 500) };
    }
  }
}

function countOf({ count, countParam }: Members, params: PerfWorkload['params']): number {
  const value = typeof countParam === 'string' ? params[countParam.slice(1)] : count;
  if (typeof value !== 'number') throw new Error(`No number is given for ${countParam ?? 'count'}`);
  return value;
}

async function readTemplate<T extends WireNode | WirePod>(file: string, kind?: string): Promise<T> {
  const template = await readYaml<T & { kind?: string }>(file);
  if (JSON.stringify(template).includes('{{')) throw new Error(`${file}: the driver fills in no templates`);
  if (kind !== undefined && template.kind !== kind) throw new Error(`${file}: the driver makes no ${template.kind}`);
  return template;
}

async function readYaml<T>(file: string): Promise<T> {
  return load(await readFile(file, 'utf8')) as T;
}
