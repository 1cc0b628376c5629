import type { Pod, WirePod } from '../../../../src/api/json/types.ts';
import type { PodConfig, PodUpdate } from '../../../../src/node.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { barePod } from '../../../support/pods.ts';

export interface PodParts {
  readonly image?: string;
  readonly phase?: string;
  readonly uid?: string;
  readonly metadata?: NonNullable<WirePod['metadata']>;
}

export function podNamed(
  name: string,
  { image = 'app:1', phase = 'Pending', uid = `uid-${name}`, metadata }: PodParts = {},
): WirePod {
  return barePod({ metadata: { name, uid, ...metadata }, spec: { containers: [{ name: 'app', image }] }, status: { phase } });
}

/** What waits for the consumer, each update as "SOURCE OP NAME NAME". */
export async function taken(config: PodConfig): Promise<string[]> {
  return (await takenUpdates(config)).map(shown);
}

export function shown({ source, op, pods }: PodUpdate): string {
  return [source, op, ...pods.map(nameOf)].join(' ');
}

export function nameOf(pod: Pod): string {
  return pod.metadata?.name ?? '';
}

/** What waits for the consumer. The next call goes on there. */
export async function takenUpdates(config: PodConfig): Promise<PodUpdate[]> {
  const reader = config.updates();
  const updates: PodUpdate[] = [];
  const reading = (async () => {
    for await (const update of reader) updates.push(update);
  })();
  await settle(1);
  await reader.return?.();
  await reading;
  return updates;
}
