// Behaviour of pkg/kubelet/kubelet_pods.go makeEnvironmentVariables, v1.36.3.
import type { Container } from '../conditions/restart-policy.ts';
import type { ResourceQuantities } from '../pod/resource-field.ts';
import type { Pod } from '../wire/types.ts';
import { containerResourceValue } from './container-resource.ts';
import { environmentFileValue } from './environment-file.ts';
import { textLimit } from './environment-limits.ts';
import { type EnvironmentObjects, ObjectValues, type Value } from './environment-sources.ts';
import { expanded } from './expansion.ts';
import { type FieldAddresses, podFieldValue } from './pod-field.ts';

/** What an environment is made from. */
export interface EnvironmentSources {
  readonly objects: EnvironmentObjects;
  /** The variables that tell of services. */
  readonly services: ReadonlyMap<string, string>;
  readonly addresses: FieldAddresses;
  /** What the node has for pods. */
  readonly allocatable: ResourceQuantities;
  /** Reads a file of one of the pod's volumes. */
  readonly readVolumeFile: (volumeName: string, path: string) => Promise<string>;
}

type EnvVar = NonNullable<Container['env']>[number];
type ValueFrom = NonNullable<EnvVar['valueFrom']>;

/** A container's variables by name. Where one is named twice, the later one counts. */
export type Environment = ReadonlyMap<string, Value>;

/**
 * The environment of a container: what it takes over from config maps and secrets, then its own variables, in order, and what
 * tells of services under names that are left. Rejects with the kubelet's message where a value cannot be had.
 */
export async function containerEnvironment(pod: Pod, container: Container, sources: EnvironmentSources): Promise<Environment> {
  const objects = new ObjectValues(sources.objects, pod.metadata?.namespace ?? '');
  const environment = new Map<string, Value>();
  for (const { configMapRef, secretRef, prefix } of container.envFrom ?? []) {
    const ref = configMapRef ?? secretRef;
    if (!ref) continue;
    const values = await objects.of(configMapRef ? 'ConfigMap' : 'Secret', ref.name ?? '', ref.optional === true);
    for (const [name, value] of values ?? []) environment.set(`${prefix ?? ''}${name}`, value);
  }
  for (const variable of container.env ?? []) {
    const { name, value } = variable;
    const found = value
      ? expandedValue(container, variable, environment, sources.services)
      : await referredValue({ pod, container, sources, objects }, variable);
    // an optional value that is not there leaves what was taken over
    if (found !== undefined) environment.set(name, found);
  }
  for (const [name, value] of sources.services) if (!environment.has(name)) environment.set(name, value);
  return environment;
}

/** A variable's value in characters; undefined for a variable that is not there. */
export function textOf(environment: Environment, name: string): string | undefined {
  const value = environment.get(name);
  return value === undefined || typeof value === 'string' ? value : Buffer.from(value).toString('utf8');
}

function expandedValue(
  container: Container,
  { name, value = '' }: EnvVar,
  environment: Environment,
  services: ReadonlyMap<string, string>,
): string {
  const limit = textLimit(`the environment variable ${shown(name)}`, container.name, Buffer.byteLength(name) + 1);
  return expanded(value, (other) => textOf(environment, other) ?? services.get(other), limit);
}

function shown(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
}

interface Reference {
  readonly pod: Pod;
  readonly container: Container;
  readonly sources: EnvironmentSources;
  readonly objects: ObjectValues;
}

async function referredValue(reference: Reference, { valueFrom }: EnvVar): Promise<Value | undefined> {
  const { pod, container, sources, objects } = reference;
  if (!valueFrom) return '';
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  if (fieldRef) return podFieldValue(pod, fieldRef, sources.addresses);
  if (resourceFieldRef) return containerResourceValue(pod, container, resourceFieldRef, sources.allocatable);
  const keyRef = configMapKeyRef ?? secretKeyRef;
  if (keyRef) {
    const kind = configMapKeyRef ? 'ConfigMap' : 'Secret';
    return objects.valueOf(kind, keyRef.name ?? '', keyRef.key, keyRef.optional === true);
  }
  return fileKeyRef ? fileValue(sources, fileKeyRef) : '';
}

async function fileValue(
  sources: EnvironmentSources,
  { volumeName, path, key, optional }: NonNullable<ValueFrom['fileKeyRef']>,
): Promise<string | undefined> {
  const text = await sources.readVolumeFile(volumeName, path);
  const value = fileVariable(text, key);
  if (value !== '' || optional === true) return value === '' ? undefined : value;
  throw new Error(`environment variable key ${JSON.stringify(key)} not found in file ${JSON.stringify(path)}`);
}

function fileVariable(text: string, key: string): string {
  try {
    return environmentFileValue(text, key) ?? '';
  } catch (error) {
    throw new Error("couldn't parse env file", { cause: error });
  }
}
