import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../../src/api/json/types.ts';
import { resources } from '../../../../../src/client/resources/api-resource.ts';
import type { EventAction, EventResource, QueueingHint } from '../../../../../src/scheduler/framework/plugin.ts';
import { createPodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import { claimEvents } from '../../../../../src/scheduler/plugins/devices/claim-hints.ts';
import { ResourceClasses } from '../../../../../src/scheduler/plugins/resource-classes.ts';
import { podUpdateEvents } from '../../../../../src/scheduler/queue/cluster-event.ts';
import { barePod } from '../../../../support/pods.ts';
import { allocationOf, ClaimWorld, claimOf, podWith, reservedFor } from './claim-world.ts';

const world = () => new ClaimWorld({ resourceClaims: [claimOf('c'), claimOf('e')] });

/** What the plugin says of a change to a pod with the claim `c`. */
function hintOf(
  resource: EventResource,
  action: EventAction,
  before: unknown,
  after: unknown,
  pod = podWith('p', 'c'),
): QueueingHint {
  const events = world().plugin.eventsToRegister?.() ?? [];
  const found = events.filter((event) => event.resource === resource && event.actions.includes(action));
  expect(found).toHaveLength(1);
  return found[0]?.hint?.(pod, before as never, after as never) ?? 'Queue';
}

describe('a change of a claim', () => {
  const allocated = { allocation: allocationOf('a') };

  it.each([
    ['helps where it comes to be', 'Add', undefined, claimOf('c'), 'Queue'],
    ['does not help where it is another one', 'Add', undefined, claimOf('e'), 'Skip'],
    ['helps where its status changes', 'Update', claimOf('c'), claimOf('c', { reservedFor: reservedFor('q') }), 'Queue'],
    ['does not help where the rest of it changes', 'Update', claimOf('c'), claimOf('c', {}, { labels: { a: 'b' } }), 'Skip'],
    ['helps where any claim lets its devices go', 'Update', claimOf('e', allocated), claimOf('e'), 'Queue'],
    ['does not help where another one gets devices', 'Update', claimOf('e'), claimOf('e', allocated), 'Skip'],
  ] as const)('%s', (_what, action, before, after, hint) => {
    expect(hintOf('ResourceClaim', action, before, after)).toBe(hint);
  });

  it('costs a pod of another namespace no look at its claims', () => {
    const looked: string[] = [];
    const get = (namespace: string | undefined, name: string) => {
      looked.push(`${namespace}/${name}`);
      return claimOf(name);
    };
    const classes = new ResourceClasses(world().objects.lister(resources.deviceClasses));
    const hint = claimEvents({ get }, classes).find(({ resource }) => resource === 'ResourceClaim')?.hint;
    const other = claimOf('c', {}, { namespace: 'other', uid: 'u-other' });
    expect(hint?.(podWith('p', 'c'), undefined, other as never)).toBe('Skip');
    expect(looked).toEqual([]);
    expect(hint?.(podWith('p', 'c'), { ...other, status: allocated } as never, other as never)).toBe('Queue');
  });

  it('does not help while another claim of the pod is missing', () => {
    expect(hintOf('ResourceClaim', 'Update', claimOf('e', allocated), claimOf('e'), podWith('p', 'c', 'missing'))).toBe('Skip');
  });
});

describe('a change of a pod', () => {
  const made = (uid: string, ...names: string[]): WirePod =>
    barePod({
      metadata: { name: 'p', namespace: 'd', uid },
      spec: { containers: [], resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] },
      status: { resourceClaimStatuses: names.map((resourceClaimName) => ({ name: 'gpu', resourceClaimName })) },
    });

  it('is one of its own where its claims were made', () => {
    const events = podUpdateEvents(createPodInfo(made('u-p')), createPodInfo(made('u-p', 'c')));
    expect(events.map(({ label }) => label)).toEqual(['UnschedulablePodUpdatePodGeneratedResourceClaim']);
    expect(podUpdateEvents(createPodInfo(made('u-p', 'c')), createPodInfo(made('u-p', 'c'))).map(({ action }) => action)).toEqual(
      ['Update'],
    );
  });

  it('helps the pod itself once its claims can be used', () => {
    const action = 'UpdatePodGeneratedResourceClaim';
    const own = { ...podWith('p', 'c') };
    expect(hintOf('Pod', action, undefined, own)).toBe('Queue');
    expect(hintOf('Pod', action, undefined, made('u-p'))).toBe('Skip');
    expect(hintOf('Pod', action, undefined, podWith('q', 'c'))).toBe('Skip');
  });

  it('helps where a pod with claims gives its node back', () => {
    expect(hintOf('Pod', 'Delete', podWith('q', 'e'), undefined)).toBe('Queue');
    expect(hintOf('Pod', 'Delete', podWith('q'), undefined)).toBe('Skip');
  });
});
