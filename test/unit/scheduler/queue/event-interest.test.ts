import { describe, expect, it } from 'vitest';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import type { ClusterEventWithHint, Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { type ClusterEvent, forceActivate, nodeAdd } from '../../../../src/scheduler/queue/cluster-event.ts';
import { EventInterest } from '../../../../src/scheduler/queue/event-interest.ts';

const taint: ClusterEvent = { resource: 'Node', action: 'UpdateNodeTaint', label: 'NodeUpdateTaint' };
const podUpdate: ClusterEvent = { resource: 'Pod', action: 'Update', label: 'AssignedPodUpdate' };
const podLabel: ClusterEvent = { resource: 'Pod', action: 'UpdatePodLabel', label: 'AssignedPodUpdateLabel' };

function interested(event: ClusterEvent, plugins: readonly Plugin[]): string[] {
  return [...new EventInterest([{ schedulerName: 's', plugins }]).of('s', event).keys()];
}

function plugin(name: string, ...events: readonly ClusterEventWithHint[]): Plugin {
  return { name, eventsToRegister: () => events };
}

describe('who is asked about an event', () => {
  it.each([
    ['of its kind', { resource: 'Pod', actions: ['UpdatePodLabel'] }, podLabel, true],
    ['of another resource', { resource: 'Node', actions: ['Update'] }, podLabel, false],
    ['of any resource', { resource: '*', actions: ['UpdatePodLabel'] }, podLabel, true],
    ['any update', { resource: 'Pod', actions: ['Update'] }, podLabel, true],
    ['anything', { resource: 'Pod', actions: ['*'] }, podLabel, true],
    ['an update of no finer kind', { resource: 'Pod', actions: ['Update'] }, podUpdate, true],
    ['a finer kind than the event', { resource: 'Pod', actions: ['UpdatePodLabel'] }, podUpdate, false],
    ['what is for one pod alone', { resource: 'Pod', actions: ['*'] }, forceActivate, false],
    ['just everything', { resource: '*', actions: ['*'] }, forceActivate, true],
  ] as const)('%s', (_what, registered, event, isAsked) => {
    expect(interested(event, [plugin('a', registered)])).toEqual(isAsked ? ['a'] : []);
  });

  it('a plugin that registers nothing of its own is asked about everything, one with an empty list about nothing', () => {
    const plugins = [{ name: 'everything' }, plugin('nothing')];
    for (const event of [taint, podUpdate, nodeAdd]) expect(interested(event, plugins)).toEqual(['everything']);
  });

  it('a plugin that waits for new nodes agrees to every change of taints', () => {
    const own = plugin('own', { resource: 'Node', actions: ['Add', 'UpdateNodeTaint'], hint: () => 'Skip' });
    const lent = plugin('lent', { resource: 'Node', actions: ['Add'], hint: () => 'Skip' });
    const other = plugin('other', { resource: 'Node', actions: ['Delete'] });
    const plugins = new EventInterest([{ schedulerName: 's', plugins: [own, lent, other] }]).of('s', taint);
    const answers = [...plugins].map(([name, hints]) => [name, hints.map((hint) => hint({}, undefined, undefined))]);
    expect(answers).toEqual([
      ['own', ['Skip']],
      ['lent', ['Queue']],
    ]);
  });

  it('a plugin about pods that it names by their resource, which is not watched once more', () => {
    const interest = new EventInterest([
      { schedulerName: 's', plugins: [plugin('own', { resource: resources.pods, actions: ['UpdatePodLabel'] })] },
    ]);
    expect([...interest.of('s', podLabel).keys()]).toEqual(['own']);
    expect(interest.resources).toEqual([]);
  });

  it.each([5, {}, { resource: 'widgets' }, 'Widget'])('a plugin is refused that registers for %j', (resource) => {
    const registered = { resource, actions: ['*'] } as unknown as ClusterEventWithHint;
    const make = () => new EventInterest([{ schedulerName: 's', plugins: [plugin('odd', registered)] }]);
    expect(make).toThrow(/Expected `odd.eventsToRegister` to be a resource/);
  });

  it('nobody in a profile that is not known', () => {
    expect([...new EventInterest([]).of('s', taint)]).toEqual([]);
  });
});
