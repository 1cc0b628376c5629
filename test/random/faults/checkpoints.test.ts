import { expect, it } from 'vitest';
import { buildPod } from '../../../src/testing.ts';
import { UnrequestedStatuses } from '../chaos/check/unrequested-statuses.ts';
import { Prng } from '../chaos/prng.ts';
import { ownConditionType } from '../chaos/said/plain-status.ts';
import { type CheckpointParts, Checkpoints } from './checkpoints.ts';

const uid = 'uid-1';
/** The server shows the status with the mark 2. */
const pod = buildPod({
  metadata: { uid },
  status: { conditions: [{ type: ownConditionType, status: 'True', message: 'm2' }] },
});

/** What the checkpoints find of a pod whose status is not the one that was said. */
async function found(lateWrite: { at: number; mark: number } | undefined, unchangedAt: number | undefined) {
  const details: string[] = [];
  const unrequested = new UnrequestedStatuses();
  unrequested.note(uid, false, 0);
  unrequested.note(uid, unchangedAt === undefined, unchangedAt ?? 0);
  const manager = {
    flush: async () => ({ held: [] }),
    getPodStatus: () => ({}),
    explain: () => ({ reason: 'why' }),
  };
  const parts = {
    agent: { uids: [uid], manager, unrequested },
    proxy: { lateWriteOn: () => lateWrite },
    admin: { getPod: async () => ({ status: 200, body: pod }) },
    ledger: { life: () => ({ owner: uid, namespace: 'default', name: 'pod-1', isStatic: false }), newest: () => ({ number: 3 }) },
    checker: { shows: () => false },
    prng: new Prng(1),
    found: (_rule: string, detail: string) => details.push(detail),
  };
  const checkpoints = new Checkpoints(parts as unknown as CheckpointParts);
  checkpoints.start();
  await checkpoints.finish();
  return { details: details.length, overwritten: checkpoints.overwritten };
}

it.each([
  ['landed since the status counted as written without a request', { at: 20, mark: 2 }, 10, { details: 0, overwritten: 1 }],
  ['landed before', { at: 5, mark: 2 }, 10, { details: 1, overwritten: 0 }],
  ['wrote another status', { at: 20, mark: 1 }, 10, { details: 1, overwritten: 0 }],
  ['landed, and a request was sent for the status', { at: 20, mark: 2 }, undefined, { details: 1, overwritten: 0 }],
  ['never landed', undefined, 10, { details: 1, overwritten: 0 }],
])('a status that is not there is excused only by a late PATCH: one that %s', async (_, lateWrite, unchangedAt, wanted) => {
  expect(await found(lateWrite, unchangedAt)).toEqual(wanted);
});
