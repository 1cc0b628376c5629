import { expect, it } from 'vitest';
import { type Field, fields } from '../../../examples/kubelet/config-fields.ts';
import { configOf } from '../../../examples/kubelet/config-file.ts';
import { configFlags } from '../../../examples/kubelet/config-flags.ts';
import { flagNames, refusedFlags } from '../../../examples/kubelet/flags.ts';
import { resolveSettings, settingNames } from '../../../src/kubelet/agent/agent-settings.ts';
import { fieldsPage, type RecordedField, recordedSettings } from '../../support/kubelet-fields.ts';

const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const recorded = recordedSettings();

/** The names of a list's objects are those of its reader. */
function namesOf([name, { read }]: readonly [string, Field]): string[] {
  const members = 'members' in read && Array.isArray(read.members) ? read.members : [];
  return [name, ...members.map((member) => `${name}[].${member}`)];
}

it('every field of the kubelet has a row, and every row is a field of the kubelet', () => {
  const rows = Object.entries(fields).flatMap(namesOf);
  expect(rows.sort()).toEqual(recorded.fields.map(({ path }) => path).sort());
});

it('what has no effect or is fixed has a reason, and every option is one of the agent', () => {
  const rows = Object.entries(fields);
  const withoutReason = rows.filter(([, { kind, why = '' }]) => kind !== 'works' && why === '');
  expect(withoutReason).toEqual([]);
  const options = rows.flatMap(([, { option }]) => option ?? []);
  const settings = options.filter((name) => !name.startsWith('server.'));
  expect(settings.filter((name) => !settingNames.some((known) => known === name))).toEqual([]);
  expect(new Set(options).size).toBe(options.length);
});

const samples: Readonly<Record<string, readonly [right: unknown, wrong: unknown, zero: unknown]>> = {
  bool: [true, 'yes', false],
  int32: [1, '1', 0],
  int64: [1, 1.5, 0],
  float64: [0.5, '0.5', 0],
  'v1.VerbosityLevel': [1, '1', 0],
  string: ['a', 1, ''],
  duration: ['1m', 'soon', '0s'],
  '[]string': [['a'], 'a', []],
  '[]int32': [[1], ['a'], []],
  'map[string]string': [{ a: 'b' }, { a: 1 }, {}],
  'map[string]bool': [{ a: true }, { a: 'true' }, {}],
  'map[string][]string': [{ a: ['b'] }, { a: 'b' }, {}],
  list: [[], {}, []],
  QuantityValue: ['0', true, '0'],
};

function sampleOf({ type }: RecordedField): readonly [right: unknown, wrong: unknown, zero: unknown] {
  return samples[type] ?? ['a', 1, ''];
}

function documentOf(path: string, value: unknown): object {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}

const single = recorded.fields.filter(({ path }) => !path.includes('[]'));

it.each(single)('$path is refused by name with a value of another type', (field) => {
  const [, wrong] = sampleOf(field);
  expect(() => configOf({ ...head, ...documentOf(field.path, wrong) })).toThrow(field.path);
});

it.each(single)('$path is taken with the default of the kubelet', (field) => {
  const given = configOf({ ...head, ...documentOf(field.path, field.default ?? null) });
  expect(() => resolveSettings(given.options)).not.toThrow();
});

const withZero = single.filter(
  ({ type, path, pointer }) =>
    ['int32', 'int64', 'string', 'duration'].includes(type) && (!pointer || fields[path]?.kind !== 'fixed'),
);

it.each(withZero)('a zero of $path says nothing where it says nothing to the kubelet', (field) => {
  const { path, pointer = false } = field;
  const row = fields[path];
  const [, , zero] = sampleOf(field);
  expect(row?.read(zero, path) === undefined).toBe(!pointer);
});

it('every flag of the kubelet is known, and sets the field that it sets there', () => {
  expect(recorded.flags.filter(({ name }) => !flagNames.includes(name))).toEqual([]);
  const fieldsOfFlags = recorded.flags.flatMap(({ name, field }) => (field === undefined ? [] : [[name, field]]));
  // the kubelet sets this field from a flag of its own
  const known = [...configFlags].filter(([name]) => name !== 'seccomp-default').map(([name, { field }]) => [name, field]);
  expect(known.sort()).toEqual(fieldsOfFlags.sort());
  expect(Object.values(refusedFlags).every((why) => why !== '')).toBe(true);
});

it('the page says of every field what the program does with it', () => {
  const { written, made } = fieldsPage();
  expect(written).toBe(made);
});
