import { describe, expect, it } from 'vitest';
import { type GivenLabelSelector, parseLabelSelector, selectorFromLabels } from '../../../../src/api/selectors/label-selector.ts';
import {
  matchesNodeAffinity,
  nodeSelectorTest,
  parseNodePreference,
  parseNodeSelectorTerm,
  requiredNodeAffinity,
} from '../../../../src/api/selectors/node-selector.ts';

const node = { metadata: { name: 'n1', labels: { disk: 'ssd', size: '3' } } };

describe('a label selector', () => {
  it.each<[string, GivenLabelSelector | undefined, Record<string, string> | undefined, boolean]>([
    ['that is absent selects nothing', undefined, { a: '1' }, false],
    ['that is empty selects everything', {}, undefined, true],
    ['asks for all labels', { matchLabels: { a: '1', b: '2' } }, { a: '1', b: '2', c: '3' }, true],
    ['refuses a missing label', { matchLabels: { a: '1', b: '2' } }, { a: '1' }, false],
    ['In', { matchExpressions: [{ key: 'a', operator: 'In', values: ['1', '2'] }] }, { a: '2' }, true],
    ['In without the label', { matchExpressions: [{ key: 'a', operator: 'In', values: ['1'] }] }, {}, false],
    ['NotIn', { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] }, { a: '1' }, false],
    ['NotIn without the label', { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] }, undefined, true],
    ['Exists', { matchExpressions: [{ key: 'a', operator: 'Exists' }] }, { a: '' }, true],
    ['DoesNotExist', { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, { a: '' }, false],
    ['a name of Object.prototype is no label', { matchExpressions: [{ key: 'toString', operator: 'Exists' }] }, {}, false],
  ])('%s', (_name, given, labels, selected) => {
    expect(parseLabelSelector('selector', given).matches(labels)).toBe(selected);
  });

  it('says whether it selects everything', () => {
    expect(parseLabelSelector('s', {}).matchesAll).toBe(true);
    expect(parseLabelSelector('s', undefined).matchesAll).toBe(false);
    expect(selectorFromLabels({}).matchesAll).toBe(true);
    expect(selectorFromLabels({ a: '1' }).matches({ a: '1' })).toBe(true);
    expect(selectorFromLabels({ a: '1' }).matches({ a: '2' })).toBe(false);
  });

  it.each([
    [{ key: 'a', operator: 'Gt', values: ['1'] }, /one of In, NotIn, Exists, DoesNotExist/],
    [{ key: 'a', operator: 'In', values: [] }, /at least one value for In/],
    [{ key: 'a', operator: 'Exists', values: ['1'] }, /no value for Exists/],
    [{ key: 'a b', operator: 'Exists' }, /s\.matchExpressions\[0\]\.key` to be the key of a label/],
    [{ key: 'a', operator: 'In', values: ['not a value'] }, /values of a label/],
  ])('is refused: %j', (requirement, message) => {
    expect(() => parseLabelSelector('s', { matchExpressions: [requirement] })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringMatching(message) }),
    );
  });
});

describe('a node selector', () => {
  it.each([
    ['an empty term selects no node', {}, false],
    ['Gt', { matchExpressions: [{ key: 'size', operator: 'Gt', values: ['2'] }] }, true],
    ['Lt', { matchExpressions: [{ key: 'size', operator: 'Lt', values: ['3'] }] }, false],
    ['Gt of a text', { matchExpressions: [{ key: 'disk', operator: 'Gt', values: ['2'] }] }, false],
    ['the name', { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }, true],
    ['another name', { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] }, false],
    ['another field is empty', { matchFields: [{ key: 'spec.x', operator: 'In', values: [''] }] }, true],
  ])('%s', (_name, term, selected) => {
    expect(parseNodeSelectorTerm('term', term)(node)).toBe(selected);
  });

  it.each([
    [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['x'] }] }, /a whole number for Gt/],
    [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1', '2'] }] }, /exactly one value for Gt/],
    [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['9223372036854775808'] }] }, /a whole number for Gt/],
    [{ matchFields: [{ key: 'metadata.name', operator: 'Exists' }] }, /one of In, NotIn/],
    [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }] }, /exactly one value/],
  ])('is refused: %j', (term, message) => {
    expect(() => parseNodeSelectorTerm('term', term)).toThrow(message);
    // such a term selects nothing, and the others count
    expect(nodeSelectorTest([term])(node)).toBe(false);
    expect(nodeSelectorTest([term, { matchExpressions: [{ key: 'disk', operator: 'Exists' }] }])(node)).toBe(true);
  });

  it('and the required affinity of a pod must both fit', () => {
    const affinity = (values: string[]) => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values }] }],
        },
      },
    });
    const pod = (nodeSelector: Record<string, string>, values: string[]) => ({
      spec: { containers: [], nodeSelector, affinity: affinity(values) },
    });
    expect(matchesNodeAffinity(pod({ size: '3' }, ['ssd']), node)).toBe(true);
    expect(matchesNodeAffinity(pod({ size: '4' }, ['ssd']), node)).toBe(false);
    expect(matchesNodeAffinity(pod({ size: '3' }, ['hdd']), node)).toBe(false);
    expect(requiredNodeAffinity({ spec: { containers: [] } })(node)).toBe(true);
  });

  it('that prefers nodes adds up the weights of its terms', () => {
    const disk = { matchExpressions: [{ key: 'disk', operator: 'Exists' }] };
    const preference = parseNodePreference('preferred', [
      { weight: 3, preference: disk },
      { weight: 0, preference: disk },
      { weight: 4, preference: disk },
      { weight: 5, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['hdd'] }] } },
    ]);
    expect(preference.score(node)).toBe(7);
    expect(preference.isEmpty).toBe(false);
    expect(parseNodePreference('preferred', [{ weight: 0, preference: disk }]).isEmpty).toBe(true);
    expect(() =>
      parseNodePreference('p', [{ weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }]),
    ).toThrow(/p\[0\]\.matchExpressions\[0\]\.operator/);
  });
});
