import { isDeepStrictEqual } from 'node:util';
import type { WirePod } from '../../../src/api/json/types.ts';
import { PodConfig, type PodUpdate } from '../../../src/node.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';
import type { ConfigCase, ConfigOutcome, ConfigStep } from './config-case.ts';

/**
 * Plays the case with our pod config, which keeps the metadata of the first sight here, as the kubelet does. Resolves to what
 * each step led to, in the form of the recording.
 */
export async function playConfig({ start, seenSets, steps }: ConfigCase): Promise<ConfigOutcome[]> {
  const clock = new FakeClock({ start: Date.parse(start) });
  let [events, watched, updates]: [string[], string[], PodUpdate[]] = [[], [], []];
  const config = new PodConfig({
    logger: null,
    metadata: 'firstSeen',
    clock,
    eventRecorder: { event: (_pod, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    podsObserved: (podUID) => watched.push(podUID),
  });
  const reading = (async () => {
    for await (const update of config.updates()) updates.push(update);
  })();
  const outcomes: ConfigOutcome[] = [];
  for (const step of steps) {
    [events, watched, updates] = [[], [], []];
    await perform(step, config, clock);
    outcomes.push({
      ...(updates.length > 0 && { updates: updates.map(recorded) }),
      ...(events.length > 0 && { events }),
      ...(watched.length > 0 && { watched }),
      seen: seenSets.map((sources) => config.seenAllSources(sources)),
    });
  }
  await config.stop();
  await reading;
  return outcomes;
}

async function perform(step: ConfigStep, config: PodConfig, clock: FakeClock): Promise<void> {
  switch (step.op) {
    case 'source':
      config.channel(step.source);
      break;
    case 'set': {
      const sent = structuredClone(step.pods ?? []);
      config.channel(step.source)(sent);
      if (!isDeepStrictEqual(sent, step.pods ?? [])) throw new Error('the config has changed a pod that was given to it');
      break;
    }
    case 'advance':
      await clock.advance(step.seconds * 1000);
      break;
  }
  await settle(1);
}

/** The update as JSON; upstream's order of removed pods is that of a Go map, and the recording's is that of their uids. */
function recorded({ op, source, pods }: PodUpdate): PodUpdate {
  const plain: WirePod[] = JSON.parse(JSON.stringify(pods));
  const uidOf = (pod: WirePod): string => pod.metadata?.uid ?? '';
  return { op, source, pods: op === 'REMOVE' ? plain.sort((a, b) => (uidOf(a) < uidOf(b) ? -1 : 1)) : plain };
}
