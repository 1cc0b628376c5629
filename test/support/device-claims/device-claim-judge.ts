import type { DeviceClaimVersion, StoredClaimingPod, StoredDeviceClaim } from './device-claim-record.ts';

/** What must not happen, whoever schedules, and whoever is killed. */
export const deviceClaimRules = [
  'a device was given to two claims',
  'a claim went from one device to another',
  'a pod lost its devices',
  'a pod was bound twice',
  'a pod was bound before its claims',
  'a pod is out of the reach of its devices',
  'left: a claim',
  'left: a pod',
] as const;

export interface DeviceClaimFinding {
  readonly rule: (typeof deviceClaimRules)[number];
  readonly detail: string;
}

/** Reads the whole history, and says what went wrong in it. `pods`: how many there are at the end. */
export function judgeDeviceClaims(
  versions: readonly DeviceClaimVersion[],
  wanted: { readonly pods: number },
): DeviceClaimFinding[] {
  const story = new ClaimStory();
  for (const version of versions) story.take(version);
  return [...story.findings, ...story.atTheEnd(wanted.pods)];
}

/** How things were at one version, and what was found on the way there. */
class ClaimStory {
  readonly findings: DeviceClaimFinding[] = [];
  readonly #claims = new Map<string, StoredDeviceClaim>();
  readonly #pods = new Map<string, StoredClaimingPod>();
  /** The name of the claim that each device belongs to. */
  readonly #owners = new Map<string, string>();

  take(version: DeviceClaimVersion): void {
    const { name, revision } = version;
    if (version.kind === 'claim') {
      this.#seeClaim(name, revision, this.#claims.get(name), version.object);
      put(this.#claims, name, version.object);
    } else {
      if (version.object !== undefined) this.#seePod(name, revision, this.#pods.get(name), version.object);
      put(this.#pods, name, version.object);
    }
  }

  #seeClaim(name: string, revision: number, before: StoredDeviceClaim | undefined, claim: StoredDeviceClaim | undefined): void {
    const [was, is] = [before?.devices ?? [], claim?.devices ?? []];
    if (before?.isAllocated && claim?.isAllocated && was.join() !== is.join()) {
      this.#found('a claim went from one device to another', revision, `${name}: ${was.join(', ')}, then ${is.join(', ')}`);
    }
    if (before?.isAllocated && !claim?.isAllocated) {
      const users = [...this.#pods].filter(([, pod]) => isAlive(pod) && pod.claims.includes(name));
      for (const [podName] of users) this.#found('a pod lost its devices', revision, `${podName}: those of ${name}`);
    }
    for (const device of was) if (this.#owners.get(device) === name) this.#owners.delete(device);
    for (const device of is) {
      const owner = this.#owners.get(device);
      if (owner !== undefined) this.#found('a device was given to two claims', revision, `${device}: ${owner} and ${name}`);
      else this.#owners.set(device, name);
    }
  }

  #seePod(name: string, revision: number, before: StoredClaimingPod | undefined, pod: StoredClaimingPod): void {
    const was = before?.uid === pod.uid ? before.nodeName : '';
    if (was === pod.nodeName) return;
    if (was !== '') this.#found('a pod was bound twice', revision, `${name}: ${was}, then ${pod.nodeName || 'no node'}`);
    if (pod.claims.length < pod.claimCount) this.#found('a pod was bound before its claims', revision, `${name} has too few`);
    for (const claimName of pod.claims) {
      const claim = this.#claims.get(claimName);
      if (!claim?.isAllocated || !claim.reservedFor.includes(pod.uid)) {
        this.#found('a pod was bound before its claims', revision, `${name} with ${claimName}`);
      } else if (claim.nodeName !== '' && claim.nodeName !== pod.nodeName) {
        const places = `${claimName} of ${claim.nodeName}, the pod ${name} on ${pod.nodeName}`;
        this.#found('a pod is out of the reach of its devices', revision, places);
      }
    }
  }

  /** What is wrong with what is there after the last version. */
  atTheEnd(wanted: number): DeviceClaimFinding[] {
    const count = this.#pods.size === wanted ? [] : [finding('left: a pod', `there are ${this.#pods.size} instead of ${wanted}`)];
    return [
      ...count,
      ...[...this.#pods].flatMap(([name, pod]) =>
        isAlive(pod) && pod.phase === 'Running' ? [] : [finding('left: a pod', `${name} is ${stateOf(pod)}`)],
      ),
      ...[...this.#claims].flatMap(([name, claim]) => this.#leftClaim(name, claim)),
    ];
  }

  /** A claim that has devices is reserved, and only for pods that use it on a node where they are. */
  #leftClaim(name: string, claim: StoredDeviceClaim): DeviceClaimFinding[] {
    if (claim.isAllocated && claim.reservedFor.length === 0) return [finding('left: a claim', `${name} has devices for no pod`)];
    const pods = new Map([...this.#pods.values()].map((pod) => [pod.uid, pod]));
    return claim.reservedFor.flatMap((uid) => {
      const pod = pods.get(uid);
      if (pod === undefined) return [finding('left: a claim', `${name} is reserved for the pod ${uid}, which is gone`)];
      const isHere = pod.nodeName !== '' && (claim.nodeName === '' || claim.nodeName === pod.nodeName);
      if (isHere && pod.claims.includes(name)) return [];
      return [finding('left: a claim', `${name} is reserved for the pod ${uid}, which is ${stateOf(pod)}`)];
    });
  }

  #found(rule: DeviceClaimFinding['rule'], revision: number, detail: string): void {
    this.findings.push(finding(rule, `${detail} (revision ${revision})`));
  }
}

/** True for a pod that has its node, and runs there or will. */
function isAlive({ nodeName, phase }: StoredClaimingPod): boolean {
  return nodeName !== '' && phase !== 'Succeeded' && phase !== 'Failed';
}

function stateOf({ nodeName, phase }: StoredClaimingPod): string {
  return `${phase} on ${nodeName || 'no node'}`;
}

function finding(rule: DeviceClaimFinding['rule'], detail: string): DeviceClaimFinding {
  return { rule, detail };
}

function put<T>(map: Map<string, T>, name: string, object: T | undefined): void {
  if (object === undefined) map.delete(name);
  else map.set(name, object);
}
