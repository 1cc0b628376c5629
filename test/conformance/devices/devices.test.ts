import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { type DevicesCase, devicesCaseProblem } from './devices-case.ts';

const file = fileURLToPath(new URL('../devices-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('devices') ?? []) as readonly DevicesCase[];
const answers = cases.flatMap(({ out }) => Object.values(out));
const results = answers.flatMap((answer) => answer.results ?? []);
const devices = results.flatMap((result) => result.devices?.results ?? []);

describe('recordings of devices', () => {
  it.each<[string, number, number]>([
    ['nodes that fit', answers.filter((answer) => answer.results).length, 350],
    ['nodes that do not fit', answers.filter((answer) => answer.none).length, 200],
    ['nodes that cannot be judged', answers.filter(({ error }) => error === 'node').length, 10],
    ['claims that cannot be judged', answers.filter(({ error }) => error === 'claims').length, 50],
    ['alternatives', devices.filter(({ request }) => request.includes('/')).length, 60],
    ['admin access', devices.filter(({ adminAccess }) => adminAccess).length, 20],
    ['shares', devices.filter(({ shareID }) => shareID).length, 60],
    ['binding conditions', devices.filter(({ bindingConditions }) => bindingConditions).length, 30],
    ['configurations', results.flatMap(({ devices: given }) => given?.config ?? []).length, 80],
    ['node selectors', results.filter(({ nodeSelector }) => nodeSelector?.nodeSelectorTerms[0]?.matchExpressions).length, 20],
    ['many devices', results.filter(({ devices: given }) => (given?.results?.length ?? 0) > 16).length, 5],
  ])('hold %s', (_name, count, least) => {
    expect(count).toBeGreaterThanOrEqual(least);
  });
});

describe('a line of kind devices', () => {
  const lists = { slices: [], classes: [], claims: [], nodes: [] };

  it.each([
    [{}, 'a devices case without slices, classes, claims or nodes'],
    [lists, 'a devices case without what is allocated'],
    [{ ...lists, allocated: { devices: [], shares: [] } }, 'a devices case without what the nodes give'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(devicesCaseProblem({ kind: 'devices', name: 'a', ...value })).toBe(problem);
  });
});
