import { describe, expect, it } from 'vitest';
import type { PodStatus, WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import { createPodStatusPatch } from '../../../src/index.ts';
import { Harness, testPod } from './status-harness.ts';

const newer = { writtenBy: 'a newer server', list: [], text: '', startedAt: 'noon' };
const container = (name: string, more: object = {}) => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: {},
  lastState: {},
  ...more,
});

const written = (status: object): WirePodStatus => status as WirePodStatus;
const onServer = written({
  phase: 'Pending',
  fieldOf137: newer,
  conditions: [
    { type: 'Ready', status: 'False', fieldOf137: newer },
    { type: 'example.com/other', status: 'True', fieldOf137: newer },
  ],
  containerStatuses: [container('a', { fieldOf137: newer }), container('b', { fieldOf137: newer })],
});
const seenByAgent: PodStatus = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [container('a', { ready: true }), container('b')],
};

/** Every place of the status in which the server has the member, with its value there. */
function unknownMembers({ conditions = [], containerStatuses = [], ...rest }: WirePodStatus): unknown[] {
  return [rest, ...conditions, ...containerStatuses].map((part) => (part as { fieldOf137?: unknown }).fieldOf137);
}

describe.each(['strategic', 'json'] as const)('StatusManager, members of a newer server (%s)', (patchFormat) => {
  const publish = (h: Harness, status: WirePodStatus): WirePod => h.publish(testPod({ spec: { containers: [] }, status }));

  it('leaves them as they are on the server when it writes, everywhere, and says nothing of them', async () => {
    const h = new Harness({ patchFormat });
    const pod = publish(h, onServer);
    h.manager.setPodStatus(pod, seenByAgent);
    await h.clock.advance(0);
    expect(h.client.actions).toMatchObject([{ verb: 'patch' }]);
    const status = h.apiStatus(pod);
    expect(status).toMatchObject({ phase: 'Running', containerStatuses: [{ name: 'a', ready: true }, { name: 'b' }] });
    expect(unknownMembers(status)).toEqual([newer, newer, newer, newer, newer]);
    // a strategic merge patch carries container statuses whole
    const { containerStatuses: _, ...rest } = (h.client.actions[0]?.patch as { status?: WirePodStatus }).status ?? {};
    expect(JSON.stringify(patchFormat === 'json' ? h.client.actions[0]?.patch : rest)).not.toContain('fieldOf137');
  });

  it('takes no difference in them for one, batch after batch', async () => {
    const h = new Harness({ patchFormat });
    const pod = publish(h, onServer);
    await h.set(pod, seenByAgent);
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
    const { conditions = [], containerStatuses = [], ...rest } = h.apiStatus(pod);
    const changed = (part: object): object => ({ ...part, fieldOf137: 'other', fieldOf138: 1 });
    h.rival(pod, {
      ...changed(rest),
      conditions: conditions.map(changed) as never,
      containerStatuses: containerStatuses.map(changed) as never,
    });
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
    h.manager.reconcile('12345678');
    expect(await h.calls()).toEqual(['get']);
  });

  it('takes none inside an address or a state for a difference, and keeps them when it writes', async () => {
    const h = new Harness({ patchFormat });
    const times = { startTime: '2026-01-01T00:00:00Z' };
    const inside = (more: object) => ({
      ...times,
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1', ...more }],
      containerStatuses: [
        container('a', { state: { running: { ...more } }, lastState: { terminated: { exitCode: 1, ...more } } }),
      ],
    });
    const pod = publish(h, written(inside({ fieldOf137: { writtenBy: 'a newer server' } })));
    expect(await h.set(pod, inside({}))).toEqual([]);
    expect(await h.set(pod, { ...inside({}), message: 'm' })).toEqual(['patch']);
    expect(JSON.stringify(h.apiStatus(pod)).match(/fieldOf137/g)?.length).toBe(3);
    h.rival(pod, written(inside({ fieldOf137: 'other', fieldOf138: 1 })));
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
  });

  it('writes those that the agent sets, and leaves them once the agent sets them no more', async () => {
    const h = new Harness({ patchFormat });
    const pod = publish(h, { phase: 'Pending' });
    const set = {
      ...seenByAgent,
      fieldOf137: 1,
      conditions: [{ type: 'Ready', status: 'True', fieldOf137: 2 }],
      containerStatuses: [container('a', { fieldOf137: 3 })],
    };
    const left = { ...seenByAgent, containerStatuses: [container('a')] };
    expect(await h.set(pod, left)).toEqual(['patch']);
    expect(await h.set(pod, set)).toEqual(['patch']);
    expect(unknownMembers(h.apiStatus(pod))).toEqual([1, 2, 3]);
    const conditions = [{ type: 'Ready', status: 'True', fieldOf137: 4 }];
    expect(await h.set(pod, { ...set, conditions })).toEqual(['patch']);
    expect(await h.set(pod, { ...left, message: 'gone on' })).toEqual(['patch']);
    expect(unknownMembers(h.apiStatus(pod))).toEqual([1, 4, 3]);
    expect(h.apiStatus(pod).message).toBe('gone on');
  });

  it('is content with a server that drops what the agent sets', async () => {
    const h = new Harness({ patchFormat });
    const pod = publish(h, { phase: 'Pending' });
    await h.set(pod, { ...seenByAgent, fieldOf137: 1, containerStatuses: [container('a', { fieldOf137: 3 })] } as never);
    const { fieldOf137: _, ...kept } = h.apiStatus(pod) as { fieldOf137?: unknown };
    h.client.store.put({ ...h.api(pod), status: { ...kept, containerStatuses: [container('a')] } });
    h.observe(pod);
    for (let tick = 0; tick < 3; tick++) expect(await h.batch()).toEqual([]);
    const { phase, reason } = h.manager.explain('12345678');
    expect(phase).toBe('in-sync');
    expect(reason).toMatch(/^the newest version was written, and the apiserver has dropped \/\S+, \/\S+: /);
    for (const path of ['/fieldOf137', '/containerStatuses/0/fieldOf137']) expect(reason).toContain(path);
  });

  it('is content with another value of what the agent sets, and explains that, in bounded words', async () => {
    const h = new Harness({ patchFormat });
    const pod = publish(h, { phase: 'Pending' });
    const many = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`${'x'.repeat(1000)}${n}`, 1]));
    await h.set(pod, { ...seenByAgent, ...many, containerStatuses: [container('a')] } as never);
    h.rival(pod, written({ ...h.apiStatus(pod), ...Object.fromEntries(Object.keys(many).map((key) => [key, 2])) }));
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
    const { reason } = h.manager.explain('12345678');
    expect(reason).toMatch(/…, .*… and 2 more otherwise by now: no batch changes that$/);
    expect(reason.length).toBeLessThan(700);
  });

  it('deletes them in a patch that is made by hand: both statuses are then what they are', () => {
    const { body } = createPodStatusPatch(written({ fieldOf137: 1 }), {}, { uid: 'u', format: patchFormat });
    expect(JSON.stringify(body)).toContain('fieldOf137');
  });
});
