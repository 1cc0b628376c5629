// Behaviour of pkg/kubelet/kubelet_pods.go makeEnvironmentVariables, v1.36.3.

import { isStatusManagerError } from '../../base/errors.ts';
import type { FrozenConfigMap } from '../../node/object-managers/config-map-manager.ts';
import type { FrozenSecret } from '../../node/object-managers/secret-manager.ts';

/** Where the values of an environment come from. */
export interface EnvironmentObjects {
  /** Such as a `SecretManager`. Rejects with ERR_NOT_FOUND for a secret that is not there. */
  getSecret(namespace: string, name: string): Promise<FrozenSecret>;
  /** Such as a `ConfigMapManager`. Rejects with ERR_NOT_FOUND for a config map that is not there. */
  getConfigMap(namespace: string, name: string): Promise<FrozenConfigMap>;
}

/** The value of a variable, in characters or in the bytes of a secret. */
export type Value = string | Uint8Array;

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
export class ObjectValues {
  readonly #objects: EnvironmentObjects;
  readonly #namespace: string;
  readonly #read = new Map<string, Promise<Values>>();

  constructor(objects: EnvironmentObjects, namespace: string) {
    this.#objects = objects;
    this.#namespace = namespace;
  }

  /** The values of a secret or a config map; undefined for one that is optional and not there. */
  async of(kind: 'Secret' | 'ConfigMap', name: string, isOptional: boolean): Promise<Values | undefined> {
    const key = `${kind}/${name}`;
    const reading = this.#read.get(key) ?? this.#values(kind, name);
    this.#read.set(key, reading);
    try {
      return await reading;
    } catch (error) {
      if (!isStatusManagerError(error, 'ERR_NOT_FOUND')) throw error;
      if (isOptional) return undefined;
      throw new Error(`${kind === 'Secret' ? 'secret' : 'configmap'} "${name}" not found`, { cause: error });
    }
  }

  /** The value behind a key; undefined for one that is optional and not there. */
  async valueOf(kind: 'Secret' | 'ConfigMap', name: string, key: string, isOptional: boolean): Promise<Value | undefined> {
    const values = await this.of(kind, name, isOptional);
    const value = values?.get(key);
    if (value !== undefined || isOptional) return value;
    throw new Error(`couldn't find key ${key} in ${kind} ${this.#namespace}/${name}`);
  }

  async #values(kind: 'Secret' | 'ConfigMap', name: string): Promise<Values> {
    if (kind === 'ConfigMap') {
      const { data } = await this.#objects.getConfigMap(this.#namespace, name);
      return new Values(data, (text) => text);
    }
    const { data } = await this.#objects.getSecret(this.#namespace, name);
    return new Values(data, (text) => Buffer.from(text, 'base64'));
  }
}
