import type { FleetVersion, PodRecord } from './fleet-record.ts';

type PodVersion = Extract<FleetVersion, { kind: 'pod' }>;

const order = ['', 'Pending', 'Running', 'Succeeded', 'Failed'];
const terminal = ['Succeeded', 'Failed'];

/** The newest of everything that was seen of one pod. */
interface Seen {
  pod: PodRecord;
  cloudVersion: number;
  startTime: string | undefined;
  readonly containers: Map<string, { restartCount: number; startedAt: string }>;
}

/** Follows the statuses of pods from version to version, and tells of each that goes back. */
export class StatusOrder {
  readonly #seen = new Map<string, Seen>();
  readonly #uidOf = new Map<string, string>();
  readonly #nameOf = new Map<string, string>();

  /** What of this version is older than what was there before. */
  take({ namespace, name, revision, pod }: PodVersion): string[] {
    const key = `${namespace}/${name}`;
    if (pod === undefined) {
      this.#seen.delete(this.#uidOf.get(key) ?? '');
      return [];
    }
    this.#uidOf.set(key, pod.uid);
    this.#nameOf.set(pod.uid, key);
    const before = this.#seen.get(pod.uid) ?? { pod, cloudVersion: 0, startTime: undefined, containers: new Map() };
    this.#seen.set(pod.uid, before);
    return back(before, pod).map((what) => `${key} at ${revision}: ${what}`);
  }

  /** The pods that are there, as they were last seen. */
  last(): { readonly name: string; readonly pod: PodRecord }[] {
    return [...this.#seen.values()].map(({ pod }) => ({ pod, name: this.#nameOf.get(pod.uid) ?? '' }));
  }
}

/** Compares, and takes the newer of each into `seen`. */
function back(seen: Seen, pod: PodRecord): string[] {
  const found: string[] = [];
  const { phase } = seen.pod;
  if (terminal.includes(phase) ? pod.phase !== phase : order.indexOf(pod.phase) < order.indexOf(phase)) {
    found.push(`the phase went from ${phase} to ${pod.phase}`);
  }
  if (pod.cloudVersion !== undefined && pod.cloudVersion < seen.cloudVersion) {
    found.push(`version ${pod.cloudVersion} of the cloud's pod follows ${seen.cloudVersion}`);
  }
  if (seen.startTime !== undefined && pod.startTime !== seen.startTime) {
    found.push(`startTime went from ${seen.startTime} to ${pod.startTime}`);
  }
  for (const [name, container] of seen.containers) {
    const { restartCount = 0, startedAt = container.startedAt } = pod.containers[name] ?? {};
    if (restartCount < container.restartCount) {
      found.push(`restartCount of ${name} went from ${container.restartCount} to ${restartCount}`);
    }
    if (startedAt < container.startedAt) found.push(`startedAt of ${name} went from ${container.startedAt} to ${startedAt}`);
  }
  seen.pod = pod;
  seen.cloudVersion = Math.max(seen.cloudVersion, pod.cloudVersion ?? 0);
  seen.startTime ??= pod.startTime;
  for (const [name, { restartCount, startedAt = '' }] of Object.entries(pod.containers)) {
    const before = seen.containers.get(name) ?? { restartCount: 0, startedAt: '' };
    const newest = startedAt > before.startedAt ? startedAt : before.startedAt;
    seen.containers.set(name, { restartCount: Math.max(restartCount, before.restartCount), startedAt: newest });
  }
  return found;
}
