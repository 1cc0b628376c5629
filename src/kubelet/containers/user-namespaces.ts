// Behaviour of pkg/kubelet/userns and of getKubeletMappings in pkg/kubelet/kubelet_pods.go, v1.36.3.

import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../api/json/json.ts';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { systemClock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { errorText, ifCode } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { runProgram } from '../../base/run-program.ts';
import { ContainerConfigError } from '../../node/environment/config-error.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { replaceFile } from '../../node/files/replace-file.ts';
import type { IDMapping } from '../runtime/security.ts';
import { podFolder, podsOnDisk } from '../volumes/pod-folder.ts';

/** Ids of users and groups of the machine, one after the other. */
export interface IDRange {
  readonly first: number;
  readonly length: number;
}

export interface UserNamespacesOptions {
  /** The absolute folder of the agent's files. The ids of a pod are kept in the folder of the pod. */
  readonly rootDirectory: string;
  /** How many ids each pod gets: a multiple of 65,536. */
  readonly idsPerPod: number;
  /** So many pods must have room. */
  readonly maxPods: number;
  /** True where the handler knows user namespaces; undefined while the runtime has not said it, or where it knows no such handler. */
  readonly handlerKnows: (runtimeHandler: string) => boolean | undefined;
  /** The ids that pods may get. Default: those of the user `kubelet`, or else all but the first ones. */
  readonly range?: () => Promise<IDRange>;
}

const fileName = 'userns';
/** A file of a pod is smaller. */
const mostFileBytes = 4096;
const allIDs = 2 ** 32;

interface PodIDs {
  readonly first: number;
  /** False: they may stand in the pod's file, and they may not. Nobody else gets them, and the pod only once they do. */
  readonly isKept: boolean;
}

/**
 * Gives each pod with `hostUsers: false` ids of users and groups that no other pod of the node has. What a pod has is kept in its
 * folder, in the kubelet's format, before anything is made with it. Calls for one pod run one after another.
 */
export class UserNamespaces {
  readonly #options: UserNamespacesOptions;
  readonly #lanes = new OneAtATime();
  readonly #podIDs = new Map<string, PodIDs>();
  /** First ids that a pod has. */
  readonly #taken = new Set<number>();
  #opening: Promise<IDRange> | undefined;

  constructor(options: UserNamespacesOptions) {
    this.#options = options;
  }

  /** The uids of the pods that have ids. */
  get podUIDs(): readonly string[] {
    return [...this.#podIDs.keys()];
  }

  /** The ids of the pod; undefined for one that has the machine's. Rejects with {@link ContainerConfigError}. */
  async idsOf(pod: Pod, runtimeHandler: string): Promise<IDMapping | undefined> {
    if (pod.spec?.hostUsers !== false) return undefined;
    this.#requireHandler(runtimeHandler);
    const podUID = podUIDOf(pod);
    return this.#lanes.run(podUID, async () => {
      const range = await this.#opened();
      return { hostID: await this.#firstOf(podUID, range), containerID: 0, length: this.#options.idsPerPod };
    });
  }

  /** Another pod may get the ids: nothing of this one runs any more, and its files are gone. */
  async release(podUID: string): Promise<void> {
    await this.#lanes.run(podUID, async () => {
      if (this.#podIDs.has(podUID)) await this.#free(podUID);
    });
  }

  #requireHandler(runtimeHandler: string): void {
    const knows = this.#options.handlerKnows(runtimeHandler);
    if (knows === true) return;
    const who = runtimeHandler === '' ? 'the container runtime' : `the runtime handler "${runtimeHandler}"`;
    const why = knows === undefined ? 'has not said that it knows user namespaces' : 'has no user namespaces';
    throw new ContainerConfigError(`the pod has hostUsers: false, and ${who} ${why}`);
  }

  /** What pods have is read before the first ids are given. After a failure the next call tries again. */
  #opened(): Promise<IDRange> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw new ContainerConfigError(`no pod can get a user namespace: ${errorText(error)}`);
    });
    return this.#opening;
  }

  async #open(): Promise<IDRange> {
    const { rootDirectory, idsPerPod, maxPods, range: given = () => idsForPods(idsPerPod) } = this.#options;
    const range = await given();
    requireRange(range, idsPerPod, maxPods);
    const found = new Map<string, number>();
    const taken = new Set<number>();
    for (const podUID of await podsOnDisk(rootDirectory)) {
      const path = join(podFolder(rootDirectory, podUID), fileName);
      const first = await readFirstID(path, range, idsPerPod);
      if (first === undefined) continue;
      if (taken.has(first)) throw new Error(`${path}: another pod has the same ids`);
      taken.add(first);
      found.set(podUID, first);
    }
    for (const [podUID, first] of found) this.#podIDs.set(podUID, { first, isKept: true });
    for (const first of taken) this.#taken.add(first);
    return range;
  }

  /** After a failure the next call tries again. */
  async #firstOf(podUID: string, range: IDRange): Promise<number> {
    const known = this.#podIDs.get(podUID);
    if (known?.isKept === true) return known.first;
    const first = known?.first ?? this.#freeID(range);
    this.#taken.add(first);
    this.#podIDs.set(podUID, { first, isKept: false });
    const { idsPerPod, rootDirectory } = this.#options;
    try {
      await writeFirstID(podFolder(rootDirectory, podUID), first, idsPerPod);
    } catch (error) {
      // the file may be there although it could not be written for good: while it stays, nobody else gets the ids
      await this.#free(podUID).catch(ignoreFailure);
      throw new ContainerConfigError(`the pod cannot get a user namespace: ${errorText(error)}`);
    }
    this.#podIDs.set(podUID, { first, isKept: true });
    return first;
  }

  #freeID({ first, length }: IDRange): number {
    let free = first;
    while (this.#taken.has(free)) free += this.#options.idsPerPod;
    if (free < first + length) return free;
    throw new ContainerConfigError('the pod cannot get a user namespace: all ids are taken');
  }

  async #free(podUID: string): Promise<void> {
    await rm(join(podFolder(this.#options.rootDirectory, podUID), fileName), { force: true }).catch(ifCode('ENOTDIR'));
    const known = this.#podIDs.get(podUID);
    this.#podIDs.delete(podUID);
    if (known !== undefined) this.#taken.delete(known.first);
  }
}

function requireRange({ first, length }: IDRange, idsPerPod: number, maxPods: number): void {
  const text = `the ids ${first} to ${first + length - 1}`;
  if (first % idsPerPod !== 0 || length % idsPerPod !== 0) throw new Error(`${text} are no multiples of ${idsPerPod}`);
  // a pod must never have the machine's own users
  if (first < idsPerPod) throw new Error(`${text} begin below ${idsPerPod}`);
  if (length / idsPerPod < maxPods) throw new Error(`${text} are too few for ${maxPods} pods of ${idsPerPod} ids`);
}

/** Undefined for a pod without a file. Throws for one that says something else than `writeFirstID` writes. */
async function readFirstID(path: string, range: IDRange, idsPerPod: number): Promise<number | undefined> {
  const text = await readAll(path);
  if (text === undefined) return undefined;
  const { uidMappings, gidMappings }: Record<string, unknown> = asObject(parsed(text));
  const users = onlyOne(uidMappings);
  const groups = onlyOne(gidMappings);
  const { hostId: first, containerId, length } = users;
  const isSame = first === groups.hostId && containerId === groups.containerId && length === groups.length;
  const isOurs = isSame && containerId === 0 && length === idsPerPod && typeof first === 'number' && first % idsPerPod === 0;
  if (isOurs && first >= range.first && first < range.first + range.length) return first;
  throw new Error(`${path} has not ${idsPerPod} ids of the ids ${range.first} to ${range.first + range.length - 1}`);
}

async function readAll(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(ifCode('ENOENT'));
  // an empty file is none, as for the kubelet
  return text === undefined || text.length === 0 || text.length > mostFileBytes ? undefined : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? { ...value } : {};
}

function onlyOne(mappings: unknown): Record<string, unknown> {
  return Array.isArray(mappings) && mappings.length === 1 ? asObject(mappings[0]) : {};
}

/** The file is whole and on disk before the ids are used: after a crash nobody else gets them. */
async function writeFirstID(folder: string, hostId: number, length: number): Promise<void> {
  const mappings = [{ hostId, containerId: 0, length }];
  await makeFolders(folder, 0o750);
  await replaceFile(join(folder, fileName), JSON.stringify({ uidMappings: mappings, gidMappings: mappings }), 0o600);
  const parent = await open(folder);
  await parent.sync().finally(() => parent.close());
}

const kubeletUser = 'kubelet';
const toolTimeoutMs = 10_000;

/** What of the machine says which ids pods may get. */
export interface IDSources {
  /** The text of `/etc/passwd`. */
  readonly users: () => Promise<string>;
  /** What `getsubids` says of the user `kubelet`, of users or of groups; undefined where there is no such program. */
  readonly subordinates: (of: 'users' | 'groups') => Promise<string | undefined>;
}

const machineSources: IDSources = {
  users: () => readFile('/etc/passwd', 'utf8'),
  subordinates: async (of) => {
    const args = of === 'groups' ? ['-g', kubeletUser] : [kubeletUser];
    const late = (): Error => new Error(`getsubids gave no answer within ${toolTimeoutMs / 1000} s`);
    const run = (signal: AbortSignal): Promise<string> =>
      runProgram({ command: 'getsubids', args, mostOutputBytes: 65_536, signal });
    return callWithin(run, { clock: systemClock, timeoutMs: toolTimeoutMs, late }).catch(ifCode('ENOENT'));
  },
};

/**
 * The ids that pods may get: those of the user `kubelet` where there is one and the program `getsubids`, or else all but the first
 * `idsPerPod`. Rejects where the user has other ids of users than of groups, or more than one range.
 */
export async function idsForPods(idsPerPod: number, sources = machineSources): Promise<IDRange> {
  const all = { first: idsPerPod, length: Math.floor((allIDs - idsPerPod) / idsPerPod) * idsPerPod };
  const hasUser = (await sources.users()).split('\n').some((line) => line.startsWith(`${kubeletUser}:`));
  if (!hasUser) return all;
  const users = await sources.subordinates('users');
  if (users === undefined) return all;
  if (users !== (await sources.subordinates('groups'))) {
    throw new Error(`the user "${kubeletUser}" has other ids of users than of groups (/etc/subuid, /etc/subgid)`);
  }
  const [, first, length] = /^\S+\s+\S+\s+(\d+)\s+(\d+)$/.exec(users.trim()) ?? [];
  const range = { first: Number(first), length: Number(length) };
  if (range.first + range.length <= allIDs) return range;
  throw new Error(`getsubids says no single range of ids of the user "${kubeletUser}": ${JSON.stringify(users.slice(0, 200))}`);
}
