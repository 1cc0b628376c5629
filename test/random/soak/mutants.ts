import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { soakProblems } from './measure.ts';
import { runPart, SoakFailure } from './run-part.ts';

/** A leak on purpose: a change of one place of the source. */
export interface SoakMutant {
  readonly name: string;
  /** The part that leaks then. */
  readonly part: string;
  /** A file of `src`. */
  readonly file: string;
  /** What stands there, exactly once, and what is put in its place. */
  readonly from: string;
  readonly to: string;
}

const project = fileURLToPath(new URL('../../..', import.meta.url));
const copied = [
  'src',
  'test/random/soak',
  'test/random/simulation',
  'test/random/chaos',
  'test/support',
  'examples/virtual-node',
  'package.json',
];
/** Enough for a leak of a listener a change to be seen. */
const mutantChanges = 4000;

export const soakMutants: readonly SoakMutant[] = [
  {
    ...{ name: 'a listener stays on a signal that others share', part: 'provider', file: 'base/concurrency/aborts.ts' },
    from: 'for (const leave of this.#leave) leave();',
    to: '',
  },
  {
    ...{ name: 'the status of a pod that is gone stays', part: 'status', file: 'status/status-cache.ts' },
    from: '    this.#podStatuses.delete(podUID);\n    this.troubles.drop',
    to: '    this.troubles.drop',
  },
  {
    ...{ name: 'an object that is gone stays in the store', part: 'sources', file: 'client/reflector/object-store.ts' },
    from: '    byName.delete(name);',
    to: '',
  },
  {
    ...{ name: 'a secret that nobody names is watched on', part: 'objects', file: 'node/object-managers/watched-objects.ts' },
    from: '      this.#objects.delete(key);\n',
    to: '',
  },
  {
    ...{ name: 'the workers of a pod that is gone stay', part: 'probes', file: 'node/probes/probe-workers.ts' },
    from: '    ofPod.delete(key);',
    to: '',
  },
  {
    ...{ name: 'what the runtime had of a pod that is gone stays', part: 'agent', file: 'kubelet/pleg/known-pods.ts' },
    from: '      this.#pods.delete(uid);',
    to: '',
  },
  {
    ...{ name: 'the last attempt at a pod that is gone stays', part: 'scheduler', file: 'scheduler/cycle/pod-attempts.ts' },
    from: '    this.#options.lastAttempts.delete(uid);\n    this.#options.writes.forget(uid);',
    to: '    this.#options.writes.forget(uid);',
  },
  {
    ...{ name: 'each event is remembered for ever', part: 'events', file: 'base/concurrency/bounded-map.ts' },
    from: '    if (this.#values.size > this.#most) this.#values.delete(this.#order.take() as Key);\n',
    to: '',
  },
  {
    ...{ name: 'the timer of the batch outlives its manager', part: 'status', file: 'status/sync/status-sync-loop.ts' },
    from: '    this.#cancelTick?.();',
    to: '',
  },
  {
    ...{ name: 'the record of a pod that has ended stays', part: 'provider', file: 'node/workers/pod-records.ts' },
    from: '    this.#records.delete(record.uid);\n    this.#staticPods',
    to: '    this.#staticPods',
  },
  {
    ...{ name: 'the answer of each review is kept for ever', part: 'kubeletApi', file: 'client/reviews/reviews.ts' },
    from: 'this.#answers = new BoundedMap(options.most);',
    to: 'this.#answers = new BoundedMap(Number.MAX_SAFE_INTEGER);',
  },
  {
    ...{
      name: 'a request that is over waits on for the end of the API',
      part: 'kubeletApi',
      file: 'node/server/node-api-server.ts',
    },
    from: '      forget();\n',
    to: '',
  },
  {
    ...{ name: 'a request that is over waits on for the end of its connection', part: 'kubeletApi' },
    file: 'node/server/node-api-server.ts',
    from: "      request.socket.removeListener('close', leave);\n",
    to: '',
  },
  {
    ...{ name: 'a connection that has ended is kept', part: 'kubeletApi', file: 'base/tls-server.ts' },
    from: "    socket.once('close', () => this.#connections.delete(socket));\n",
    to: '',
  },
  {
    ...{ name: 'the timer of a stream that has ended stays', part: 'kubeletApi', file: 'kubelet/server/stream-proxy.ts' },
    from: '  idle.close();\n',
    to: '',
  },
  {
    ...{ name: 'the folder of a log that was followed is watched on', part: 'kubeletApi', file: 'kubelet/logs/read-logs.ts' },
    from: '    waiting?.close();\n',
    to: '',
  },
  {
    ...{ name: 'a log that was left off stays open', part: 'kubeletApi', file: 'kubelet/logs/read-logs.ts' },
    from: '    await file.close();\n',
    to: '',
  },
];

/** What the checks say of the mutant: none of it would show that they are blind to it. */
export async function tryMutant({ part, file, from, to }: SoakMutant, seed: number): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'soak-mutant-'));
  try {
    for (const path of copied) await cp(join(project, path), join(root, path), { recursive: true });
    await symlink(join(project, 'node_modules'), join(root, 'node_modules'));
    const path = join(root, 'src', file);
    await writeFile(path, mutated(await readFile(path, 'utf8'), { file, from, to }));
    return soakProblems(await runPart(part, { changes: mutantChanges, seed }, root));
  } catch (error) {
    if (error instanceof SoakFailure) return [error.message];
    throw error;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Throws where the text does not have the place exactly once. */
export function mutated(text: string, { file, from, to }: Pick<SoakMutant, 'file' | 'from' | 'to'>): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0) throw new Error(`${file} does not have once: ${from}`);
  return before + to + after;
}
