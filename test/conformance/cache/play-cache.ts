import { isDeepStrictEqual } from 'node:util';
import type { WirePod } from '../../../src/api/json/types.ts';
import { podUIDOf } from '../../../src/api/pod/pod-identity.ts';
import { SchedulerCache } from '../../../src/scheduler/cache/scheduler-cache.ts';
import { classicPodReading } from '../../../src/scheduler/classic/classic-amounts.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import type { CacheCase, CacheOutcome, CacheStep, RecordedNode } from './cache-case.ts';
import { recordNode } from './node-record.ts';

/** Plays the case with our cache. Resolves to what each step led to, in the form of the recording. */
export async function playCache({ ttlSeconds, steps }: CacheCase): Promise<CacheOutcome[]> {
  const clock = new FakeClock();
  const cache = new SchedulerCache({ clock, assumedPodTTLMs: ttlSeconds * 1000, version: 'v1.22' });
  const nodeNames = new Set<string>();
  let before: ReadonlyMap<string, RecordedNode> = new Map();
  const outcomes: CacheOutcome[] = [];
  for (const step of steps) {
    for (const name of namesIn(step)) nodeNames.add(name);
    if (step.op === 'advance') await clock.advance(step.seconds * 1000);
    const error = play(cache, step);
    const after = new Map<string, RecordedNode>();
    for (const name of nodeNames) {
      const state = cache.stateOf(name);
      if (state !== undefined) after.set(name, recordNode(state));
    }
    const order = cache.updateSnapshot().nodes.map(({ name }) => name);
    const changed = changes(before, after);
    outcomes.push({
      ...(error !== undefined && { error }),
      assumed: [...cache.assumedPods].sort(),
      order,
      ...(Object.keys(changed).length > 0 && { changed }),
    });
    before = after;
  }
  return outcomes;
}

function play(cache: SchedulerCache, step: CacheStep): string | undefined {
  switch (step.op) {
    case 'assume':
      return cache.assumePod(infoOf(step.pod), nodeNameOf(step.pod));
    case 'finish':
      return void cache.finishBinding(podUIDOf(step.pod));
    case 'forget':
      return cache.forgetPod(infoOf(step.pod), nodeNameOf(step.pod));
    case 'addPod':
      return cache.addPod(infoOf(step.pod));
    case 'updatePod':
      return cache.updatePod(infoOf(step.oldPod), infoOf(step.pod));
    case 'removePod':
      return cache.removePod(infoOf(step.pod));
    case 'addNode':
      return void cache.addNode(step.node);
    case 'updateNode':
      return void cache.updateNode(step.oldNode, step.node);
    case 'removeNode':
      return cache.removeNode(step.node);
    case 'advance':
      return void cache.expireAssumedPods();
  }
}

function changes(
  before: ReadonlyMap<string, RecordedNode>,
  after: ReadonlyMap<string, RecordedNode>,
): Record<string, RecordedNode> {
  const changed: Record<string, RecordedNode> = {};
  for (const [name, node] of after) if (!isDeepStrictEqual(node, before.get(name))) changed[name] = node;
  for (const name of before.keys()) if (!after.has(name)) changed[name] = { gone: true };
  return changed;
}

function namesIn(step: CacheStep): string[] {
  if ('node' in step) return [step.node.metadata?.name ?? ''];
  return 'pod' in step ? [nodeNameOf(step.pod)] : [];
}

const infoOf = (pod: WirePod): PodInfo => createPodInfo(pod, classicPodReading);

const nodeNameOf = (pod: WirePod): string => pod.spec?.nodeName ?? '';
