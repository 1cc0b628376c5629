import type { Pod, WirePod, WirePodStatus } from '../../src/index.ts';

/** The same pods and statuses as in test/peers/status/main.go, so that both sides do the same work. */
export function podFor(namespace: string, nodeName: string, index: number): WirePod {
  return {
    metadata: { name: podName(index), namespace },
    spec: {
      nodeName,
      containers: [
        { name: 'main', image: 'registry.example/app:1' },
        { name: 'side', image: 'registry.example/side:1' },
      ],
      terminationGracePeriodSeconds: 0,
    },
  };
}

export function podName(index: number): string {
  return `pod-${String(index).padStart(5, '0')}`;
}

/** A pod as an agent has it: with a uid, but not on any apiserver. */
export function localPod(index: number): Pod {
  const pod = podFor('bench', 'node-a', index);
  return { ...pod, metadata: { ...pod.metadata, uid: `uid-${String(index).padStart(5, '0')}` } };
}

/** True in even rounds only, so that every round changes the status. */
export function isReadyIn(round: number): boolean {
  return round % 2 === 0;
}

export function statusFor(index: number, round: number, now: string): WirePodStatus {
  const ready = isReadyIn(round) ? 'True' : 'False';
  const ip = `10.1.${Math.floor(index / 250)}.${(index % 250) + 1}`;
  const container = (name: string) => ({
    name,
    state: { running: { startedAt: now } },
    lastState: {},
    ready: isReadyIn(round),
    restartCount: 0,
    image: `registry.example/${name}:1`,
    imageID: `registry.example/${name}@sha256:0`,
    containerID: containerID(name, index),
    started: true,
  });
  return {
    phase: 'Running',
    conditions: [
      { type: 'Initialized', status: 'True' },
      { type: 'Ready', status: ready },
      { type: 'ContainersReady', status: ready },
      { type: 'PodScheduled', status: 'True' },
    ],
    hostIP: '10.0.0.1',
    hostIPs: [{ ip: '10.0.0.1' }],
    podIP: ip,
    podIPs: [{ ip }],
    qosClass: 'BestEffort',
    containerStatuses: [container('main'), container('side')],
  };
}

export function containerID(name: string, index: number): string {
  return `containerd://${name}-${index}`;
}

/** The current time in the apiserver's form. */
export function wholeSecondNow(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
