// Behaviour of pkg/kubelet/kubelet_pods.go makeEnvironmentVariables, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { expanded } from '../../api/pod/expansion.ts';
import { type Container, type NamedContainers, namedContainers } from '../../api/pod/pod-containers.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { errorText, isStatusManagerError } from '../../base/errors.ts';
import type { ConfigMapReader } from '../object-managers/config-map-manager.ts';
import type { SecretReader } from '../object-managers/secret-manager.ts';
import { EnvironmentFiles } from './environment-file.ts';
import { containerResourceValue, type FieldAddresses, podFieldValue } from './pod-field.ts';
import { StartSize, textLimit, variableText } from './start-limits.ts';

/** What an environment is made from. */
export interface EnvironmentSources {
  readonly objects: EnvironmentObjects;
  /** The variables that tell of services. */
  readonly services: ReadonlyMap<string, string>;
  readonly addresses: FieldAddresses;
  /** What the node has for pods. */
  readonly allocatable: ResourceQuantities;
  /** True: a large environment may be made now; else it is refused with `LargeStart`. */
  readonly isTurn: boolean;
  /** Reads a file of one of the pod's volumes. */
  readonly readVolumeFile: (volumeName: string, path: string) => Promise<string>;
}

type EnvVar = NonNullable<Container['env']>[number];
type ValueFrom = NonNullable<EnvVar['valueFrom']>;

/** A container's variables by name. Where one is named twice, the later one counts. */
export type Environment = ReadonlyMap<string, Value>;

/**
 * The environment of a container: what it takes over from config maps and secrets, then its own variables, in order, and what
 * tells of services under names that are left. Rejects with the kubelet's message where a value cannot be had, and as soon as what
 * was made is more than Linux could start a process with; what a later variable has replaced counts as well.
 */
export async function containerEnvironment(pod: Pod, container: Container, sources: EnvironmentSources): Promise<Environment> {
  const objects = new ObjectValues(sources.objects, pod.metadata?.namespace ?? '');
  const environment = new Map<string, Value>();
  const size = new StartSize(container.name, sources.isTurn);
  const set = (name: string, value: Value): void => {
    size.addVariable(name, value);
    environment.set(name, value);
  };
  for (const { configMapRef, secretRef, prefix } of container.envFrom ?? []) {
    const ref = configMapRef ?? secretRef;
    if (!ref) continue;
    const values = await objects.of(configMapRef ? 'ConfigMap' : 'Secret', ref.name ?? '', ref.optional === true);
    for (const key of values?.keys() ?? []) set(`${prefix ?? ''}${key}`, values?.get(key) ?? '');
  }
  const referred = new ReferredValues(pod, container, sources, objects);
  for (const variable of container.env ?? []) {
    const { name, value, valueFrom } = variable;
    const found = value
      ? expandedValue(container, variable, environment, sources.services)
      : await referred.value(valueFrom ?? undefined);
    // an optional value that is not there leaves what was taken over
    if (found !== undefined) set(name, found);
  }
  for (const [name, value] of sources.services) if (!environment.has(name)) set(name, value);
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
  const limit = textLimit(() => variableText(name), container.name, Buffer.byteLength(name) + 1);
  return expanded(value, (other) => textOf(environment, other) ?? services.get(other), limit);
}

/** What the variables of one container refer to: each field, resource and file is read once, however many variables show it. */
class ReferredValues {
  readonly #pod: Pod;
  readonly #container: Container;
  readonly #sources: EnvironmentSources;
  readonly #objects: ObjectValues;
  readonly #made = new Map<string, string>();
  readonly #files: EnvironmentFiles;
  readonly #containers: NamedContainers;

  constructor(pod: Pod, container: Container, sources: EnvironmentSources, objects: ObjectValues) {
    this.#pod = pod;
    this.#container = container;
    this.#sources = sources;
    this.#objects = objects;
    this.#containers = namedContainers(pod);
    const keys = (container.env ?? []).flatMap(({ valueFrom }) => valueFrom?.fileKeyRef?.key ?? []);
    this.#files = new EnvironmentFiles(sources.readVolumeFile, keys);
  }

  async value(valueFrom: ValueFrom | undefined): Promise<Value | undefined> {
    if (!valueFrom) return '';
    const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
    if (fieldRef) {
      const { apiVersion, fieldPath } = fieldRef;
      return this.#once(['field', apiVersion, fieldPath], () => podFieldValue(this.#pod, fieldRef, this.#sources.addresses));
    }
    if (resourceFieldRef) {
      const { containerName, resource, divisor } = resourceFieldRef;
      const { allocatable } = this.#sources;
      const read = (): string =>
        containerResourceValue(this.#pod, this.#container, resourceFieldRef, allocatable, this.#containers);
      return this.#once(['resource', containerName, resource, divisor], read);
    }
    const keyRef = configMapKeyRef ?? secretKeyRef;
    if (keyRef) {
      const kind = configMapKeyRef ? 'ConfigMap' : 'Secret';
      return this.#objects.valueOf(kind, keyRef.name ?? '', keyRef.key, keyRef.optional === true);
    }
    return fileKeyRef ? this.#files.value(fileKeyRef) : '';
  }

  #once(what: readonly unknown[], read: () => string): string {
    const key = JSON.stringify(what);
    const value = this.#made.get(key) ?? read();
    this.#made.set(key, value);
    return value;
  }
}

/** Where the values of an environment come from. */
export interface EnvironmentObjects extends SecretReader, ConfigMapReader {}

/** What holds values for an environment. */
export type ObjectKind = 'Secret' | 'ConfigMap';

/** A value that an environment needs cannot be had. The message is the kubelet's. */
export class MissingValueError extends Error {
  /** Which object, and what of it is missing: the object, a key, or its answer to a read. */
  readonly source: { readonly kind: ObjectKind; readonly name: string; readonly lacks: 'object' | 'key' | 'read' };

  constructor(message: string, source: MissingValueError['source'], options?: ErrorOptions) {
    super(message, options);
    this.name = 'MissingValueError';
    this.source = source;
  }
}

/** The value of a variable, in characters or in the bytes of a secret. */
type Value = string | Uint8Array;

/** What a secret or a config map holds. A value is decoded when it is asked for, and once. */
class Values {
  readonly #data: Readonly<Record<string, string>>;
  readonly #decode: (text: string) => Value;
  readonly #decoded = new Map<string, Value>();

  constructor(data: Readonly<Record<string, string>> | undefined, decode: (text: string) => Value) {
    this.#data = data ?? {};
    this.#decode = decode;
  }

  keys(): readonly string[] {
    return Object.keys(this.#data);
  }

  get(key: string): Value | undefined {
    const text = Object.hasOwn(this.#data, key) ? this.#data[key] : undefined;
    if (text === undefined) return undefined;
    const value = this.#decoded.get(key) ?? this.#decode(text);
    if (typeof value !== 'string') this.#decoded.set(key, value);
    return value;
  }
}

/** Reads the objects that one environment names, each once. */
class ObjectValues {
  readonly #objects: EnvironmentObjects;
  readonly #namespace: string;
  readonly #read = new Map<string, Promise<Values>>();

  constructor(objects: EnvironmentObjects, namespace: string) {
    this.#objects = objects;
    this.#namespace = namespace;
  }

  /** The values of a secret or a config map; undefined for one that is optional and not there. */
  async of(kind: ObjectKind, name: string, isOptional: boolean): Promise<Values | undefined> {
    const key = `${kind}/${name}`;
    const reading = this.#read.get(key) ?? this.#values(kind, name);
    this.#read.set(key, reading);
    try {
      return await reading;
    } catch (cause) {
      const isThere = !isStatusManagerError(cause, 'ERR_NOT_FOUND');
      if (!isThere && isOptional) return undefined;
      const message = isThere ? errorText(cause) : `${kind === 'Secret' ? 'secret' : 'configmap'} "${name}" not found`;
      throw new MissingValueError(message, { kind, name, lacks: isThere ? 'read' : 'object' }, { cause });
    }
  }

  /** The value behind a key; undefined for one that is optional and not there. */
  async valueOf(kind: ObjectKind, name: string, key: string, isOptional: boolean): Promise<Value | undefined> {
    const values = await this.of(kind, name, isOptional);
    const value = values?.get(key);
    if (value !== undefined || isOptional) return value;
    const message = `couldn't find key ${key} in ${kind} ${this.#namespace}/${name}`;
    throw new MissingValueError(message, { kind, name, lacks: 'key' });
  }

  async #values(kind: ObjectKind, name: string): Promise<Values> {
    if (kind === 'ConfigMap') {
      const { data } = await this.#objects.getConfigMap(this.#namespace, name);
      return new Values(data, (text) => text);
    }
    const { data } = await this.#objects.getSecret(this.#namespace, name);
    return new Values(data, (text) => Buffer.from(text, 'base64'));
  }
}
