import type { WirePodCondition, WirePodStatus } from '../../src/index.ts';

export type Stage = 'pending' | 'running' | 'ended';

/**
 * What is really true of one pod on the node, whatever anybody says of it. It outlives the manager's process, as
 * containers do.
 */
export class PodLife {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly isStatic: boolean;
  stage: Stage = 'pending';
  /** Containers run, or could. It only ever goes from true to false once the pod has ended. */
  couldRun = false;
  ready = false;
  started = false;
  exitCode = 0;
  /** The agent says the phase is terminal. It may say so while containers still stop. */
  saysTerminal = false;
  deletionSeen = false;
  reclaimed = false;
  /** `terminatePod` was called for it, by this process or one before. */
  finished = false;
  /** The phase is Failed, however the containers ended. */
  failed = false;
  podIP: string;
  /** The newest mark the agent has set. */
  mark = 0;

  constructor(uid: string, namespace: string, name: string, isStatic: boolean, podIP: string) {
    this.uid = uid;
    this.namespace = namespace;
    this.name = name;
    this.isStatic = isStatic;
    this.podIP = podIP;
  }

  /** Whose marks may stand on an API object: a static pod's mirror may come and go, its name stays. */
  get owner(): string {
    return this.isStatic ? ownerOfStatic(this.namespace, this.name) : this.uid;
  }

  get containerID(): string {
    return `containerd://app-of-${this.uid}`;
  }

  /** The status the agent sets now. The mark stands in it twice: as restart count and in the message. */
  status(mark: number, time: string): WirePodStatus {
    const ready = this.stage === 'running' && this.ready && !this.saysTerminal;
    return {
      phase: this.#phase(),
      message: `m${mark}`,
      conditions: conditions(ready, mark),
      hostIP: '192.0.2.1',
      hostIPs: [{ ip: '192.0.2.1' }],
      ...(this.stage === 'pending' ? {} : { podIP: this.podIP, podIPs: [{ ip: this.podIP }] }),
      containerStatuses: [
        {
          name: 'app',
          ready,
          started: this.stage === 'running' && this.started,
          restartCount: mark,
          image: 'registry.k8s.io/pause:3.10',
          imageID: this.stage === 'pending' ? '' : 'registry.k8s.io/pause:3.10@sha256:0',
          ...(this.stage === 'pending' ? {} : { containerID: this.containerID }),
          state: this.#state(time),
          lastState: {},
        },
      ],
    };
  }

  #phase(): string {
    if (this.saysTerminal) return this.exitCode === 0 && !this.failed ? 'Succeeded' : 'Failed';
    return this.stage === 'pending' ? 'Pending' : 'Running';
  }

  #state(time: string): NonNullable<WirePodStatus['containerStatuses']>[number]['state'] & object {
    if (this.stage === 'pending') return { waiting: { reason: 'ContainerCreating' } };
    if (this.stage === 'running') return { running: { startedAt: time } };
    const reason = this.exitCode === 0 ? 'Completed' : 'Error';
    return { terminated: { exitCode: this.exitCode, reason, startedAt: time, finishedAt: time } };
  }
}

export function ownerOfStatic(namespace: string, name: string): string {
  return `static:${namespace}/${name}`;
}

function conditions(ready: boolean, mark: number): WirePodCondition[] {
  const status = ready ? 'True' : 'False';
  const why = ready ? {} : { reason: 'ContainersNotReady', message: 'containers with unready status: [app]' };
  return [
    { type: 'Initialized', status: 'True' },
    { type: 'Ready', status, ...why },
    { type: 'ContainersReady', status, ...why },
    { type: 'PodScheduled', status: 'True' },
    { type: 'simulation.example/Own', status: mark % 2 === 0 ? 'True' : 'False', message: `m${mark}` },
  ];
}
