import { isDeepStrictEqual } from 'node:util';
import { ApiError, isStatusManagerError } from '../../../src/index.ts';
import { MirrorPodClient } from '../../../src/node/mirror/mirror-pod-client.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import type { MirrorCase, MirrorOutcome, MirrorStep, ServerView } from './mirror-case.ts';
import { RecordedServer } from './mirror-recorded-server.ts';

/** Plays the case with our mirror pod client. Resolves to what each step led to, in the form of the recording. */
export async function playMirror({ nodeName, noClient, steps }: MirrorCase): Promise<MirrorOutcome[]> {
  const server = new RecordedServer();
  let node: { readonly nodeUID?: string; readonly nodeError?: string } = {};
  const client = new MirrorPodClient({
    transport: noClient ? null : server,
    nodeName,
    clock: new FakeClock(),
    getNode: (name) => {
      if (node.nodeError) throw new Error(node.nodeError);
      return { metadata: { name, uid: node.nodeUID ?? '' } };
    },
  });
  const outcomes: MirrorOutcome[] = [];
  let before: ServerView | undefined;
  for (const step of steps) {
    if (step.op === 'node') node = step;
    const answer = await perform(step, client, server);
    const calls = server.takeCalls();
    const view = server.view();
    const isAsBefore = before !== undefined && isDeepStrictEqual(view, before);
    outcomes.push({ ...(calls.length > 0 && { calls }), ...answer, ...(!isAsBefore && { server: view }) });
    before = view;
  }
  return outcomes;
}

async function perform(step: MirrorStep, client: MirrorPodClient, server: RecordedServer): Promise<MirrorOutcome> {
  switch (step.op) {
    case 'node':
      return {};
    case 'server.put':
      server.put(step.pod);
      return {};
    case 'server.remove':
      server.remove(step.namespace, step.name);
      return {};
    case 'server.fail':
      server.fail(step.verb, step.code);
      return {};
    case 'create':
      return create(client, step);
    case 'delete':
      return remove(client, step);
  }
}

async function create(client: MirrorPodClient, { pod }: MirrorStep & { op: 'create' }): Promise<MirrorOutcome> {
  const given = structuredClone(pod);
  try {
    const result = await client.createMirrorPod(given);
    if (!isDeepStrictEqual(given, pod)) return { error: 'the given pod was changed' };
    return result.outcome === 'alreadyExists' ? { error: upstreamText(result.error, client.nodeName) } : {};
  } catch (error) {
    return { error: upstreamText(error, client.nodeName) };
  }
}

async function remove(client: MirrorPodClient, { podFullName = '', uid }: MirrorStep & { op: 'delete' }): Promise<MirrorOutcome> {
  try {
    return { deleted: (await client.deleteMirrorPod(podFullName, uid)).deleted };
  } catch (error) {
    if (!isStatusManagerError(error, 'ERR_INVALID_ARGUMENT')) throw error;
    return { deleted: false, error: `failed to parse the pod full name ${JSON.stringify(podFullName)}` };
  }
}

/** Our error in upstream's words: a server's message stays as it is, without the request that we put before it. */
function upstreamText(error: unknown, nodeName: string): string {
  if (error instanceof ApiError) return error.message.replace(/^\S+ \S+: \d+ /, '');
  if (!isStatusManagerError(error, 'ERR_NO_NODE')) throw error;
  const { cause } = error;
  return `failed to get node UID: ${cause instanceof Error ? cause.message : `UID unset for node ${nodeName}`}`;
}
