import { describe, expect, it } from 'vitest';
import { AlgorithmRegistry } from '../../../../src/scheduler/classic/algorithm-registry.ts';
import { policyProfile } from '../../../../src/scheduler/classic/policy-profile.ts';

const cpu = { name: 'cpu', weight: 1 };
const line = [
  { utilization: 0, score: 0 },
  { utilization: 100, score: 10 },
];
const predicates = (...entries: unknown[]) => ({ kind: 'Policy', apiVersion: 'v1', predicates: entries });
const priorities = (...entries: unknown[]) => ({ kind: 'Policy', apiVersion: 'v1', priorities: entries });
const presence = (name: string, labels: unknown, value: unknown) => ({
  name,
  argument: { labelsPresence: { labels, presence: value } },
});
const preference = (name: string, weight: unknown, label: unknown, value: unknown = true) => ({
  name,
  weight,
  argument: { labelPreference: { label, presence: value } },
});
const ratio = (shape: unknown, resources: unknown, name = 'ratio') => ({
  name,
  weight: 1,
  argument: { requestedToCapacityRatioArguments: { shape, resources } },
});
const anti = (name: string, weight: number, label: string) => ({ name, weight, argument: { serviceAntiAffinity: { label } } });

/** What is wrong, the policy, the message. Upstream's v1.22.17 refuses all but those marked "ours". */
const bad: readonly (readonly [string, unknown, string])[] = [
  ['no policy at all', [], 'Expected `policy` to be an object, got (array)'],
  ['a text alone', 'x', 'Expected `policy` to be an object, got "x" (string)'],
  ['no JSON', '{"kind": ', 'Expected `policy` to be JSON'],
  ['no YAML', 'kind: [', 'Expected `policy` to be YAML'],
  ['another kind', { kind: 'Pod' }, 'Expected `policy.kind` to be one of "Policy", got "Pod" (string)'],
  ['another version', { apiVersion: 'v2' }, 'Expected `policy.apiVersion` to be one of "v1", "kubescheduler.config'],
  ['an unknown member', { predicate: [] }, 'Expected `policy.predicate` to be absent: the known members are kind, apiVersion'],
  [
    'an unknown member of a predicate',
    predicates({ name: 'HostName', weight: 3 }),
    'Expected `policy.predicates[0].weight` to be a',
  ],
  [
    'an unknown member of a priority',
    priorities({ name: 'EqualPriority', weight: 1, x: 1 }),
    '`policy.priorities[0].x` to be absent',
  ],
  [
    'an unknown argument',
    predicates({ name: 'x', argument: { labels: {} } }),
    '`policy.predicates[0].argument.labels` to be absent',
  ],
  ['predicates that are no list', { predicates: {} }, 'Expected `policy.predicates` to be a list, got (object)'],
  ['priorities that are no list', { priorities: 'x' }, 'Expected `policy.priorities` to be a list, got "x" (string)'],
  [
    'a predicate that is text',
    predicates('HostName'),
    'Expected `policy.predicates[0]` to be an object, got "HostName" (string)',
  ],
  [
    'a name that is no text',
    predicates({ name: 3 }),
    'Expected `policy.predicates[0].name` to be a non-empty text, got 3 (number)',
  ],
  ['no name', predicates({}), 'Expected `policy.predicates[0].name` to be a non-empty text, got undefined'],
  [
    'an unknown predicate',
    predicates({ name: 'Nope' }),
    '`policy.predicates[0].name` to be the name of a predicate that is built in',
  ],
  [
    'an unknown priority',
    priorities({ name: 'Nope', weight: 1 }),
    '`policy.priorities[0].name` to be the name of a priority that is',
  ],
  [
    'a label predicate without labels',
    predicates({ name: 'CheckNodeLabelPresence' }),
    '(or one with an argument), got "CheckNodeLabelP',
  ],
  [
    'a ratio without arguments',
    priorities({ name: 'RequestedToCapacityRatio', weight: 1 }),
    '(or one with an argument), got "Requested',
  ],
  [
    'no weight',
    priorities({ name: 'EqualPriority' }),
    '`policy.priorities[0].weight` to be a whole number from 1 to 2147483647, got',
  ],
  ['weight 0', priorities({ name: 'EqualPriority', weight: 0 }), 'to be a whole number from 1 to 2147483647, got 0 (number)'],
  ['a negative weight', priorities({ name: 'EqualPriority', weight: -1 }), 'from 1 to 2147483647, got -1 (number)'],
  ['a weight that is text', priorities({ name: 'EqualPriority', weight: '1' }), 'from 1 to 2147483647, got "1" (string)'],
  ['a fraction of a weight', priorities({ name: 'EqualPriority', weight: 1.5 }), 'from 1 to 2147483647, got 1.5 (number)'],
  ['too large a weight (ours from 2³¹)', priorities({ name: 'EqualPriority', weight: 2 ** 31 }), 'got 2147483648 (number)'],
  [
    'too large a sum of weights (ours)',
    priorities(anti('a', 2 ** 30, 'a'), anti('b', 2 ** 30, 'b')),
    'weight of ServiceAffinity',
  ],
  [
    'an empty argument',
    predicates({ name: 'x', argument: {} }),
    'with exactly one of serviceAffinity, labelsPresence, got (object)',
  ],
  [
    'two arguments',
    predicates({ name: 'x', argument: { serviceAffinity: { labels: ['a'] }, labelsPresence: { labels: ['a'] } } }),
    'exactly one of serviceAffinity, labelsPresence (it has serviceAffinity and labelsPresence)',
  ],
  [
    'an empty argument of a priority',
    priorities({ name: 'x', weight: 1, argument: {} }),
    'exactly one of serviceAntiAffinity, labelP',
  ],
  ['an empty argument on a known name', predicates({ name: 'HostName', argument: {} }), 'exactly one of serviceAffinity'],
  [
    'an argument on a known name (ours)',
    predicates(presence('HostName', ['a'], true)),
    '.argument` to be absent: HostName takes none',
  ],
  [
    'an argument on a known priority (ours)',
    priorities(preference('EqualPriority', 1, 'a')),
    'to be absent: EqualPriority takes none',
  ],
  ['labels that are text', predicates(presence('x', 'zone', true)), '.labelsPresence.labels` to be a list, got "zone" (string)'],
  ['no labels (ours)', predicates(presence('x', [], true)), '.labels` to be a list with at least one label, got (array)'],
  [
    'a label that is none (ours)',
    predicates(presence('x', ['a b'], true)),
    '.labels[0]` to be the key of a label: a name of at most',
  ],
  ['a presence that is text', predicates(presence('x', ['a'], 'true')), '.presence` to be true or false, got "true" (string)'],
  ['no label to prefer (ours)', priorities(preference('x', 1, undefined)), '.labelPreference.label` to be the key of a label'],
  [
    'a label that must be there and must not',
    predicates(presence('x', ['a', 'b'], true), presence('y', ['b'], false)),
    '`policy.predicates[1].argument.labelsPresence.labels[0]` to be a label that no other entry asks for the opposite of',
  ],
  [
    'a label that is liked and is not',
    priorities(preference('x', 1, 'b', false), preference('y', 1, 'b', true)),
    '`policy.priorities[1].argument.labelPreference.label` to be a label that no other entry asks for the opposite of',
  ],
  [
    'label preferences of two weights',
    priorities(preference('x', 1, 'a'), preference('y', 2, 'b')),
    '`policy.priorities[1].weight` to be 1, the weight of "x": all entries with labelPreference have the same, got 2 (number)',
  ],
  [
    'service anti-affinities of two weights',
    priorities(anti('x', 3, 'a'), anti('y', 2, 'b')),
    '`policy.priorities[1].weight` to be 3',
  ],
  [
    'two ratios',
    priorities(ratio(line, [cpu]), ratio(line, [cpu], 'x')),
    '`policy.priorities[1].argument.requestedToCapacityRatioA',
  ],
  ['no shape', priorities(ratio(undefined, [cpu])), '.shape` to be a list, got undefined'],
  ['an empty shape', priorities(ratio([], [cpu])), '.shape` to be a list with at least one point, got (array)'],
  [
    'a shape that turns back',
    priorities(ratio([...line, { utilization: 50 }], [cpu])),
    '.shape[2].utilization` to be greater than that',
  ],
  [
    'a utilization over 100',
    priorities(ratio([{ utilization: 101 }], [cpu])),
    '.shape[0].utilization` to be a whole number from 0 to 100',
  ],
  [
    'a fraction of a utilization',
    priorities(ratio([{ utilization: 0.5 }], [cpu])),
    '.utilization` to be a whole number from 0 to 100',
  ],
  [
    'a score over 10',
    priorities(ratio([{ utilization: 1, score: 11 }], [cpu])),
    '.score` to be a whole number from 0 to 10, got 11',
  ],
  [
    'a resource without weight',
    priorities(ratio(line, [{ name: 'cpu' }])),
    '.resources[0].weight` to be a whole number from 1 to',
  ],
  ['a resource without name (ours)', priorities(ratio(line, [{ weight: 1 }])), '.resources[0].name` to be a non-empty text'],
  [
    'too much affinity',
    { hardPodAffinitySymmetricWeight: 101 },
    '`policy.hardPodAffinitySymmetricWeight` to be a whole number from 0 to',
  ],
  ['affinity that is text', { hardPodAffinitySymmetricWeight: '10' }, 'from 0 to 100, got "10" (string)'],
  [
    'a switch that is text',
    { alwaysCheckAllPredicates: 'yes' },
    '`policy.alwaysCheckAllPredicates` to be true or false, got "yes"',
  ],
  [
    'two predicates of one name (ours)',
    predicates({ name: 'HostName' }, { name: 'HostName' }),
    '[1].name` to be another name than',
  ],
  [
    'two priorities of one name (ours)',
    priorities({ name: 'EqualPriority', weight: 1 }, { name: 'EqualPriority', weight: 2 }),
    '`policy.priorities[1].name` to be another name than that of entry 0, got "EqualPriority" (string)',
  ],
  ['extenders that are no list', { extenders: {} }, '`policy.extenders` to be a list'],
  [
    'an extender in the form of a configuration file',
    { extenders: [{ urlPrefix: 'http://x', enableHTTPS: true }] },
    '`policy.extenders[0].enableHTTPS` to be absent',
  ],
  [
    'a timeout of an extender as text',
    { extenders: [{ urlPrefix: 'http://x', httpTimeout: '5s' }] },
    '`policy.extenders[0].httpTimeout` to be a whole number of nanoseconds from 0 up, got "5s" (string)',
  ],
  [
    'a flag of an extender that is none',
    { extenders: [{ urlPrefix: 'http://x', enableHttps: 'yes' }] },
    '`policy.extenders[0].enableHttps` to be a boolean, got "yes" (string)',
  ],
  [
    'an extender without a weight',
    { extenders: [{ urlPrefix: 'http://x', prioritizeVerb: 'p' }] },
    '`policy.extenders[0].weight` to be a whole number from 1 up',
  ],
  [
    'two extenders that bind',
    {
      extenders: [
        { urlPrefix: 'http://x', bindVerb: 'b' },
        { urlPrefix: 'http://y', bindVerb: 'b' },
      ],
    },
    '`policy.extenders` to be extenders of which at most one has a `bindVerb`',
  ],
];

describe('a bad policy', () => {
  it.each(bad)('is refused: %s', (_what, policy, message) => {
    expect(() => policyProfile(policy as string)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(message) }),
    );
  });

  it.each(bad.filter(([, policy]) => typeof policy !== 'string'))('is refused as JSON, too: %s', (_what, policy) => {
    expect(() => policyProfile(JSON.stringify(policy))).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });
});

describe('what stands beside a policy', () => {
  it.each([
    [{ scheduler: 'x' }, '`options.scheduler` to be absent'],
    [{ schedulerName: '' }, '`options.schedulerName` to be a non-empty text, got "" (string)'],
    [{ registry: {} }, '`options.registry` to be an AlgorithmRegistry, got (object)'],
    [
      { serviceSpreading: 'x' },
      '`options.serviceSpreading` to be one of "SelectorSpread", "PodTopologySpread", got "x" (string)',
    ],
  ])('is checked, too: %j', (options, message) => {
    expect(() => policyProfile({}, options as object)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(message) }),
    );
  });

  it.each([
    ['a name that is taken', () => new AlgorithmRegistry().registerPredicate('HostName', () => true)],
    ['an alias', () => new AlgorithmRegistry().registerPriority('ServiceSpreadingPriority', () => 1)],
    ['EqualPriority', () => new AlgorithmRegistry().registerPriority('EqualPriority', () => 1)],
    ['the name of a plugin', () => new AlgorithmRegistry().registerPredicate('NodeName', () => true)],
    ['no name', () => new AlgorithmRegistry().registerPredicate('', () => true)],
    ['an async predicate', () => new AlgorithmRegistry().registerPredicate('X', (async () => true) as never)],
    ['an async priority', () => new AlgorithmRegistry().registerPriority('X', (async () => 1) as never)],
    ['no function', () => new AlgorithmRegistry().registerPriorityFactory('X', 3 as never)],
    ['a provider without priorities', () => new AlgorithmRegistry().registerProvider('X', { predicates: [] } as never)],
    [
      'a second DefaultProvider',
      () => new AlgorithmRegistry().registerProvider('DefaultProvider', { predicates: [], priorities: [] }),
    ],
  ])('a registry refuses %s', (_what, register) => {
    expect(register).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
  });
});
