import type { WirePodCondition, WirePodStatus } from '../../../../src/index.ts';
import type { PodLife } from '../life/pod-life.ts';
import { ownConditionType } from './plain-status.ts';
import { readinessOf } from './readiness.ts';

export interface Wording {
  /** Ready follows from the containers alone, though the phase is terminal. */
  readonly overlooksPhase: boolean;
  /** Undefined: the status carries none. */
  readonly generation: number | undefined;
}

const wrongIP = 'not an address';

/** The status that an agent like the kubelet says of this pod now. */
export function statusOf(life: PodLife, mark: number, { overlooksPhase, generation }: Wording): WirePodStatus {
  const { phase, failure, misspoke, ips, all } = life;
  const containers = life.containers.map((container) => container.status());
  const inits = life.initContainers.map((container) => container.status());
  const lists = { containerStatuses: containers, ...(inits.length === 0 ? {} : { initContainerStatuses: inits }) };
  const ready = readinessOf(life.shape, { ...lists, ...(overlooksPhase ? {} : { phase }) });
  const hasSandbox = all.some(({ hasRun }) => hasRun);
  const given = misspoke ? [wrongIP] : hasSandbox ? ips : [];
  const conditions: WirePodCondition[] = [
    { type: 'PodReadyToStartContainers', status: hasSandbox ? 'True' : 'False' },
    { type: 'Initialized', ...initialized(life) },
    { type: 'Ready', ...ready },
    { type: 'ContainersReady', ...ready },
    { type: 'PodScheduled', status: 'True' },
    { type: ownConditionType, status: mark % 3 === 0 ? 'False' : 'True', message: `m${mark}` },
  ];
  return {
    phase,
    ...(failure === undefined ? { message: `m${mark}` } : { reason: failure.reason, message: `m${mark}: ${failure.message}` }),
    conditions: generation === undefined ? conditions : conditions.map((c) => ({ ...c, observedGeneration: generation })),
    hostIP: '192.0.2.1',
    hostIPs: [{ ip: '192.0.2.1' }],
    ...(given.length === 0 ? {} : { podIP: given[0] ?? '', podIPs: given.map((ip) => ({ ip })) }),
    ...lists,
  };
}

function initialized({ isInitialized, initContainers }: PodLife): Pick<WirePodCondition, 'status' | 'reason' | 'message'> {
  if (isInitialized) return { status: 'True' };
  const left = initContainers.filter(({ kind, exitCode, started }) => (kind === 'sidecar' ? !started : exitCode !== 0));
  const message = `containers with incomplete status: [${left.map(({ name }) => name).join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}
