import type { StorageRecord, StorageVersion, StoredClaim, StoredPod, StoredVolume } from './storage-record.ts';

/** What must not happen, whoever schedules, and whoever is killed. */
export const storageRules = [
  'a volume went from one claim to another',
  'a volume was taken back from its claim',
  'a claim went from one volume to another',
  'two volumes for one claim',
  'a claim went from one node to another',
  'a pod was bound twice',
  'a pod was bound before its claims',
  'a pod is out of the reach of its volume',
  'a pod was run elsewhere, or twice',
  'a volume was lost',
  'left: a claim',
  'left: a pod',
] as const;

export type StorageRule = (typeof storageRules)[number];

export interface StorageFinding {
  readonly rule: StorageRule;
  readonly detail: string;
}

/** Reads the whole history, and says what went wrong in it. */
export function judgeStorage(record: StorageRecord): StorageFinding[] {
  const story = new StorageStory(record.zoneOfNode);
  for (const version of record.versions) story.take(version);
  return [...story.findings, ...story.atTheEnd(record)];
}

/** How things were at one version, and what was found on the way there. */
class StorageStory {
  readonly findings: StorageFinding[] = [];
  readonly #zoneOfNode: ReadonlyMap<string, string>;
  readonly #volumes = new Map<string, StoredVolume>();
  readonly #claims = new Map<string, StoredClaim>();
  readonly #pods = new Map<string, StoredPod>();
  /** The volumes that ever belonged to a claim, by its uid. */
  readonly #volumesOfClaim = new Map<string, Set<string>>();
  readonly #lostVolumes = new Set<string>();

  constructor(zoneOfNode: ReadonlyMap<string, string>) {
    this.#zoneOfNode = zoneOfNode;
  }

  take(version: StorageVersion): void {
    const { name, revision } = version;
    if (version.kind === 'volume') {
      if (version.object === undefined) this.#lostVolumes.add(name);
      else this.#seeVolume(name, revision, this.#volumes.get(name), version.object);
      put(this.#volumes, name, version.object);
    } else if (version.kind === 'claim') {
      if (version.object !== undefined) this.#seeClaim(name, revision, this.#claims.get(name), version.object);
      put(this.#claims, name, version.object);
    } else {
      if (version.object !== undefined) this.#seePod(name, revision, this.#pods.get(name), version.object);
      put(this.#pods, name, version.object);
    }
  }

  #seeVolume(name: string, revision: number, before: StoredVolume | undefined, { claimUid }: StoredVolume): void {
    const was = before?.claimUid ?? '';
    if (was !== '' && claimUid === '') this.#found('a volume was taken back from its claim', revision, `${name}: ${was}`);
    if (was !== '' && claimUid !== '' && was !== claimUid) {
      this.#found('a volume went from one claim to another', revision, `${name}: ${was}, then ${claimUid}`);
    }
    if (claimUid === '' || claimUid === was) return;
    const volumes = this.#volumesOfClaim.get(claimUid) ?? new Set();
    this.#volumesOfClaim.set(claimUid, volumes.add(name));
    if (volumes.size > 1) this.#found('two volumes for one claim', revision, `${claimUid}: ${[...volumes].join(', ')}`);
  }

  #seeClaim(name: string, revision: number, before: StoredClaim | undefined, claim: StoredClaim): void {
    if (before === undefined || before.uid !== claim.uid) return;
    const { volumeName, selectedNode } = before;
    if (volumeName !== '' && volumeName !== claim.volumeName) {
      this.#found('a claim went from one volume to another', revision, `${name}: ${volumeName}, then ${claim.volumeName}`);
    }
    // who makes volumes may take a node's name away; only then another one may come
    if (selectedNode !== '' && claim.selectedNode !== '' && selectedNode !== claim.selectedNode) {
      this.#found('a claim went from one node to another', revision, `${name}: ${selectedNode}, then ${claim.selectedNode}`);
    }
  }

  #seePod(name: string, revision: number, before: StoredPod | undefined, { uid, nodeName, claims }: StoredPod): void {
    const was = before?.uid === uid ? before.nodeName : '';
    if (was === nodeName) return;
    if (was !== '') this.#found('a pod was bound twice', revision, `${name}: ${was}, then ${nodeName || 'no node'}`);
    for (const claimName of claims) {
      const claim = this.#claims.get(claimName);
      if (claim?.isBound !== true || claim.volumeName === '') {
        this.#found('a pod was bound before its claims', revision, `${name} with ${claimName}`);
      }
    }
  }

  /** What is wrong with what is there after the last version. */
  atTheEnd({ wanted, created }: StorageRecord): StorageFinding[] {
    return [
      ...[...this.#lostVolumes].map((name) => finding('a volume was lost', `${name} was deleted`)),
      ...[...this.#volumes].flatMap(([name, volume]) => this.#lostVolume(name, volume)),
      ...missing('left: a claim', wanted.claims, this.#claims.size),
      ...[...this.#claims].flatMap(([name, claim]) => this.#leftClaim(name, claim)),
      ...missing('left: a pod', wanted.pods, this.#pods.size),
      ...[...this.#pods].flatMap(([name, pod]) => this.#leftPod(name, pod)),
      ...this.#wrongRuns(created),
    ];
  }

  /** A volume that belongs to a claim which has another one, or is not there, is of no use to anybody. */
  #lostVolume(name: string, { claimUid, phase }: StoredVolume): StorageFinding[] {
    if (claimUid === '') return phase === 'Available' ? [] : [finding('a volume was lost', `${name} is ${phase || 'new'}`)];
    const owner = [...this.#claims.values()].find(({ uid }) => uid === claimUid);
    if (owner?.volumeName === name && phase === 'Bound') return [];
    return [finding('a volume was lost', `${name} is ${phase}, of ${claimUid}, which has ${owner?.volumeName || 'none'}`)];
  }

  #leftClaim(name: string, { phase, volumeName, uid }: StoredClaim): StorageFinding[] {
    const isItsOwn = this.#volumes.get(volumeName)?.claimUid === uid;
    return phase === 'Bound' && isItsOwn
      ? []
      : [finding('left: a claim', `${name} is ${phase}, with ${volumeName || 'no volume'}`)];
  }

  #leftPod(name: string, { nodeName, phase, claims }: StoredPod): StorageFinding[] {
    if (nodeName === '') return [finding('left: a pod', `${name} has no node`)];
    const here = this.#zoneOfNode.get(nodeName);
    const far = claims.flatMap((claim) => {
      const volumeName = this.#claims.get(claim)?.volumeName ?? '';
      const zone = this.#volumes.get(volumeName)?.zone;
      if (zone === undefined || zone === here) return [];
      return [finding('a pod is out of the reach of its volume', `${name} on ${nodeName} in ${here}: ${volumeName} in ${zone}`)];
    });
    return phase === 'Running' ? far : [...far, finding('left: a pod', `${name} on ${nodeName} is ${phase}`)];
  }

  #wrongRuns(created: StorageRecord['created']): StorageFinding[] {
    const seen = new Set<string>();
    return [...created].flatMap(([nodeName, names]) =>
      names.flatMap((name) => {
        const isRight = this.#pods.get(name)?.nodeName === nodeName && !seen.has(name);
        seen.add(name);
        return isRight ? [] : [finding('a pod was run elsewhere, or twice', `${name} on ${nodeName}`)];
      }),
    );
  }

  #found(rule: StorageRule, revision: number, detail: string): void {
    this.findings.push(finding(rule, `${detail} (revision ${revision})`));
  }
}

function finding(rule: StorageRule, detail: string): StorageFinding {
  return { rule, detail };
}

function missing(rule: StorageRule, wanted: number, are: number): StorageFinding[] {
  return wanted === are ? [] : [finding(rule, `there are ${are} instead of ${wanted}`)];
}

function put<T>(map: Map<string, T>, name: string, object: T | undefined): void {
  if (object === undefined) map.delete(name);
  else map.set(name, object);
}
