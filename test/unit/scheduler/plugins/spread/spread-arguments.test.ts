import { describe, expect, it } from 'vitest';
import { spreadDefaults } from '../../../../../src/scheduler/plugins/spread/spread-constraint.ts';

const good = { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };
const list = (...defaultConstraints: unknown[]) => ({ defaultingType: 'List', defaultConstraints });
const at = 'PodTopologySpread.defaultConstraints';

describe('the arguments of PodTopologySpread', () => {
  it('spread over nodes and zones unless they say otherwise', () => {
    for (const args of [undefined, {}, { defaultingType: 'System' }]) {
      const { constraints, areSystem } = spreadDefaults(args);
      expect(constraints.map(({ topologyKey, maxSkew }) => [topologyKey, maxSkew])).toEqual([
        ['kubernetes.io/hostname', 3],
        ['topology.kubernetes.io/zone', 5],
      ]);
      expect(areSystem).toBe(true);
    }
  });

  it('may hold a list, which may be empty', () => {
    expect(spreadDefaults(list())).toEqual({ constraints: [], areSystem: false });
    const other = { ...good, whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2, nodeTaintsPolicy: 'Honor' };
    expect(spreadDefaults(list(good, other)).constraints).toEqual([good, other]);
  });

  it.each<[unknown, string]>([
    ['List', '`PodTopologySpread` to be an object, got "List" (string)'],
    [{ constraints: [] }, '`PodTopologySpread.constraints` to be absent'],
    [{ defaultingType: 'Own' }, '`PodTopologySpread.defaultingType` to be one of "System", "List", got "Own" (string)'],
    [{ defaultConstraints: 3 }, `\`${at}\` to be a list or a set, got 3 (number)`],
    [{ defaultConstraints: [good] }, `\`${at}\` to be empty unless \`defaultingType\` is "List"`],
    [list(3), `\`${at}[0]\` to be an object, got 3 (number)`],
    [list({ ...good, max: 1 }), `\`${at}[0].max\` to be absent`],
    [list({ ...good, maxSkew: 0 }), `\`${at}[0].maxSkew\` to be an integer from 1 up, got 0 (number)`],
    [list({ ...good, topologyKey: 'a b' }), `\`${at}[0].topologyKey\` to be a name`],
    [list({ ...good, whenUnsatisfiable: 'Never' }), `\`${at}[0].whenUnsatisfiable\` to be one of "DoNotSchedule"`],
    [list({ ...good, labelSelector: {} }), `\`${at}[0].labelSelector\` to be absent: it is deduced for each pod`],
    [list({ ...good, minDomains: 0 }), `\`${at}[0].minDomains\` to be an integer from 1 up`],
    [list({ ...good, nodeAffinityPolicy: 'No' }), `\`${at}[0].nodeAffinityPolicy\` to be one of "Honor", "Ignore"`],
    [list({ ...good, nodeTaintsPolicy: 'No' }), `\`${at}[0].nodeTaintsPolicy\` to be one of "Honor", "Ignore"`],
    [list(good, { ...good, maxSkew: 2 }), `\`${at}[1]\` to be the only one with its \`topologyKey\` and`],
  ])('are refused: %j', (args, message) => {
    expect(() => spreadDefaults(args)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => spreadDefaults(args)).toThrow(message);
  });
});
