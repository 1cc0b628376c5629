// Behaviour of pkg/apis/core/validation for environment variables, v1.36.3.
import { check } from '../text/invalid-manifest.ts';
import type { Container, Volume } from '../types/pod-parts.ts';
import { checkFieldRef, checkResourceFieldRef, envFieldPaths } from './field-ref-rules.ts';
import { checkDnsLabel, checkDnsSubdomain, checkEnvName, checkNoBacksteps, checkPresent } from './text-rules.ts';

type EnvVar = NonNullable<Container['env']>[number];
type EnvVarSource = NonNullable<EnvVar['valueFrom']>;

const longestKey = 253;

export function checkEnv(path: string, variables: readonly EnvVar[], volumes: ReadonlyMap<string, Volume>): void {
  for (const [index, { name, value = '', valueFrom }] of variables.entries()) {
    checkEnvName(`${path}[${index}].name`, name);
    if (valueFrom === undefined) continue;
    const sources = Object.keys(valueFrom);
    const place = `${path}[${index}].valueFrom`;
    check(sources.length === 1, place, 'exactly one source', sources.join(', '));
    check(value === '', place, 'absent beside a value', value);
    checkSource(place, valueFrom, volumes);
  }
}

function checkSource(path: string, source: EnvVarSource, volumes: ReadonlyMap<string, Volume>): void {
  if (source.fieldRef) checkFieldRef(`${path}.fieldRef`, source.fieldRef, envFieldPaths);
  if (source.resourceFieldRef) checkResourceFieldRef(`${path}.resourceFieldRef`, source.resourceFieldRef, false);
  for (const kind of ['configMapKeyRef', 'secretKeyRef'] as const) {
    const ref = source[kind];
    if (ref === undefined) continue;
    checkDnsSubdomain(`${path}.${kind}.name`, ref.name ?? '');
    check(
      ref.key.length <= longestKey && /^[-._a-zA-Z0-9]+$/.test(ref.key),
      `${path}.${kind}.key`,
      'letters, digits, "-", "_" and "."',
      ref.key,
    );
  }
  if (source.fileKeyRef) checkFileKeyRef(`${path}.fileKeyRef`, source.fileKeyRef, volumes);
}

/** A key of a file in an empty directory. */
function checkFileKeyRef(path: string, ref: NonNullable<EnvVarSource['fileKeyRef']>, volumes: ReadonlyMap<string, Volume>): void {
  checkEnvName(`${path}.key`, ref.key);
  checkDnsLabel(`${path}.volumeName`, ref.volumeName);
  checkPresent(`${path}.path`, ref.path);
  checkNoBacksteps(`${path}.path`, ref.path);
  check(
    volumes.get(ref.volumeName)?.emptyDir !== undefined,
    `${path}.volumeName`,
    'the name of an emptyDir volume',
    ref.volumeName,
  );
}

export function checkEnvFrom(path: string, sources: NonNullable<Container['envFrom']>): void {
  for (const [index, { prefix, ...source }] of sources.entries()) {
    if (prefix !== undefined) checkEnvName(`${path}[${index}].prefix`, prefix);
    const kinds = Object.entries(source);
    check(kinds.length === 1, `${path}[${index}]`, 'exactly one of configMapRef and secretRef', kinds.length);
    for (const [kind, ref] of kinds) checkPresent(`${path}[${index}].${kind}.name`, ref?.name);
  }
}
