import { isTerminalPhase, podUIDOf } from '../../../../src/api/pod/pod-identity.ts';
import type { WireContainerStatus, WirePod } from '../../../../src/index.ts';
import type { StoreEvent } from '../parts/simulated-objects.ts';
import type { AgentFound } from './rules.ts';
import type { RunLedger } from './run-ledger.ts';

/** Judges each version of a pod that the server stores, by what has really run. */
export class AgentJudge {
  readonly #ledger: RunLedger;
  readonly #found: AgentFound;
  readonly #count: (what: string) => void;

  constructor(ledger: RunLedger, found: AgentFound, count: (what: string) => void) {
    this.#ledger = ledger;
    this.#found = found;
    this.#count = count;
  }

  /** `byAgent`: the agent's own write. */
  stored({ type, object, previous }: StoreEvent, byAgent: boolean): void {
    this.#ledger.catchUp();
    if (!byAgent) return;
    const [pod, before] = [object as WirePod, previous as WirePod | undefined];
    if (type === 'DELETED') this.#judgeRemoval(pod);
    else {
      this.#judgePhase(pod, before);
      for (const container of containersOf(pod)) this.#judgeContainer(pod, container, before);
    }
  }

  #judgeRemoval(pod: WirePod): void {
    this.#count('pod finished on the server');
    const running = this.#ledger.ofPod(podUIDOf(pod)).find(({ state }) => state === 'running');
    if (running) this.#found('a pod leaves the server when nothing of it runs', `${nameOf(pod)}: ${running.name} runs`);
  }

  #judgePhase(pod: WirePod, before: WirePod | undefined): void {
    const [phase, former] = [pod.status?.phase, before?.status?.phase];
    if (phase !== former) this.#count(`told: ${phase}`);
    if (isTerminalPhase(former) && phase !== former)
      this.#found('an ended pod stays ended', `${nameOf(pod)}: ${former}, then ${phase}`);
  }

  #judgeContainer(
    pod: WirePod,
    { name, state, lastState, containerID, restartCount }: WireContainerStatus,
    before?: WirePod,
  ): void {
    const what = `${nameOf(pod)}/${name}`;
    if (state?.running !== undefined && this.#ledger.get(idOf(containerID)) === undefined) {
      this.#found('what the server says is what runs', `${what} is told to run as ${containerID}`);
    }
    for (const end of [state?.terminated, lastState?.terminated]) {
      if (end?.containerID === undefined || end.containerID === '') continue;
      const run = this.#ledger.get(idOf(end.containerID));
      const isTrue =
        run?.state === 'exited' && run.exitCode === end.exitCode && run.name === name && run.podUID === podUIDOf(pod);
      if (!isTrue)
        this.#found('every end that is told has happened', `${what}: ${JSON.stringify(end)}, not ${JSON.stringify(run)}`);
      else this.#count('end told');
    }
    const former = before === undefined ? undefined : containersOf(before).find((each) => each.name === name);
    if (former !== undefined && restartCount < former.restartCount) {
      this.#found('a restart count never goes back', `${what}: ${former.restartCount}, then ${restartCount}`);
    }
  }
}

/** Where the server and the runtime differ, once all is calm. */
export function outOfStep(pods: readonly WirePod[], ledger: RunLedger): string[] {
  ledger.catchUp();
  const uids = new Set(pods.map(podUIDOf));
  const strays = ledger.running().filter(({ podUID }) => !uids.has(podUID));
  const wrong = strays.map(({ podUID, name }) => `${name} of ${podUID} runs, and its pod is gone`);
  for (const uid of ledger.podsWithSandbox())
    if (!uids.has(uid)) wrong.push(`the sandbox of ${uid} is ready, and its pod is gone`);
  return [...wrong, ...pods.flatMap((pod) => podOutOfStep(pod, ledger))];
}

function podOutOfStep(pod: WirePod, ledger: RunLedger): string[] {
  if (pod.metadata?.deletionTimestamp !== undefined) return [`${nameOf(pod)} is being deleted`];
  const { phase, containerStatuses = [] } = pod.status ?? {};
  const runs = ledger.ofPod(podUIDOf(pod));
  if (isTerminalPhase(phase)) {
    return runs.some(({ state }) => state === 'running') ? [`${nameOf(pod)} is told ${phase}, and runs`] : [];
  }
  // an init container that does not end well, and an image that is not there, keep a container from its start
  const isInitialized = (pod.spec?.initContainers ?? []).every(({ name }) => ledger.newest(podUIDOf(pod), name)?.exitCode === 0);
  // as the kubelet: a pod that is never restarted gets no second sandbox once something of it has run
  const isCutShort = pod.spec?.restartPolicy === 'Never' && runs.length > 0 && !ledger.podsWithSandbox().has(podUIDOf(pod));
  return (pod.spec?.containers ?? []).flatMap(({ name, image = '' }) => {
    const mayWait = !isInitialized || isCutShort || image.includes('/missing:');
    const { state } = ledger.newest(podUIDOf(pod), name) ?? {};
    // one that was created before its image was changed to one that is not there is never started
    if (mayWait && (state === undefined || state === 'created')) return [];
    const status = containerStatuses.find((each) => each.name === name);
    const difference = differenceOf(ledger, podUIDOf(pod), name, status);
    return difference === undefined ? [] : [`${nameOf(pod)}/${name} ${difference}`];
  });
}

function differenceOf(
  ledger: RunLedger,
  podUID: string,
  name: string,
  status: WireContainerStatus | undefined,
): string | undefined {
  const run = ledger.newest(podUID, name);
  const { state, lastState, containerID } = status ?? {};
  if (run === undefined) return 'has not run yet';
  if (run.state === 'running') {
    return state?.running !== undefined && idOf(containerID) === run.id
      ? undefined
      : `runs, and is told ${JSON.stringify(state)}`;
  }
  if (run.state === 'created') return 'is not started';
  const told = state?.terminated ?? lastState?.terminated;
  return idOf(told?.containerID) === run.id ? undefined : `has ended as ${run.id}, and is told ${JSON.stringify(state)}`;
}

function nameOf({ metadata }: WirePod): string {
  return `${metadata?.name} (${metadata?.uid})`;
}

function idOf(containerID: string | undefined): string {
  return containerID?.replace(/^\w+:\/\//, '') ?? '';
}

function containersOf({ status }: WirePod): WireContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}
