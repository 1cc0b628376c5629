import type { Pod } from '../../api/json/types.ts';
import { whileGoing } from '../../base/concurrency/aborts.ts';
import type { ConfigMapReader, FrozenConfigMap } from '../object-managers/config-map-manager.ts';
import type { FrozenSecret, SecretReader } from '../object-managers/secret-manager.ts';

type Texts = Readonly<Record<string, string>> | undefined;

/** The values of a secret or a config map, by key. */
export interface SourceValues {
  readonly keys: ReadonlySet<string>;
  /** The same bytes each time: a value that many files show is there once. */
  get(key: string): Uint8Array | undefined;
}

/** Where secrets and config maps come from. */
export interface ObjectReaders {
  /** Undefined where the agent has none. */
  readonly secrets?: SecretReader | undefined;
  /** Undefined where the agent has none. */
  readonly configMaps?: ConfigMapReader | undefined;
}

/** The secrets and config maps of one volume while it is made: each is read once, and each value decoded once. */
export class MountObjects {
  readonly #namespace: string;
  readonly #options: ObjectReaders;
  readonly #signal: AbortSignal;
  readonly #configMaps = new Map<string, Promise<SourceValues>>();
  readonly #secrets = new Map<string, Promise<SourceValues>>();

  constructor({ metadata }: Pod, options: ObjectReaders, signal: AbortSignal) {
    this.#namespace = metadata?.namespace ?? '';
    this.#options = options;
    this.#signal = signal;
  }

  /** Rejects as its reader does. */
  configMap(name: string): Promise<SourceValues> {
    const { configMaps } = this.#options;
    if (configMaps === undefined) throw new Error('this agent has no config maps');
    return once(this.#configMaps, name, async () => {
      const { data, binaryData } = await whileGoing(() => configMaps.getConfigMap(this.#namespace, name), this.#signal);
      return new DecodedValues(data, binaryData);
    });
  }

  /** Rejects as its reader does. */
  secret(name: string): Promise<SourceValues> {
    const { secrets } = this.#options;
    if (secrets === undefined) throw new Error('this agent has no secrets');
    return once(this.#secrets, name, async () => {
      const { data } = await whileGoing(() => secrets.getSecret(this.#namespace, name), this.#signal);
      return new DecodedValues(undefined, data);
    });
  }
}

function once<T>(reads: Map<string, Promise<T>>, name: string, read: () => Promise<T>): Promise<T> {
  const before = reads.get(name);
  if (before !== undefined) return before;
  const reading = read();
  reads.set(name, reading);
  return reading;
}

class DecodedValues implements SourceValues {
  readonly keys: ReadonlySet<string>;
  readonly #texts: Texts;
  readonly #base64: Texts;
  readonly #decoded = new Map<string, Uint8Array>();

  constructor(texts: Texts, base64: Texts) {
    this.#texts = texts;
    this.#base64 = base64;
    this.keys = new Set([...Object.keys(texts ?? {}), ...Object.keys(base64 ?? {})]);
  }

  get(key: string): Uint8Array | undefined {
    const before = this.#decoded.get(key);
    if (before !== undefined || !this.keys.has(key)) return before;
    const bytes = ownOf(this.#base64, key);
    const value = bytes === undefined ? Buffer.from(ownOf(this.#texts, key) ?? '') : Buffer.from(bytes, 'base64');
    this.#decoded.set(key, value);
    return value;
  }
}

/** Reads secrets and config maps for one pod: each once, whoever asks. Rejects with the signal's reason once it aborts. */
export class ObjectReads implements SecretReader, ConfigMapReader {
  readonly #secretReader: SecretReader;
  readonly #configMapReader: ConfigMapReader;
  readonly #signal: AbortSignal;
  readonly #secrets = new Map<string, Promise<FrozenSecret>>();
  readonly #configMaps = new Map<string, Promise<FrozenConfigMap>>();

  constructor(secrets: SecretReader, configMaps: ConfigMapReader, signal: AbortSignal) {
    this.#secretReader = secrets;
    this.#configMapReader = configMaps;
    this.#signal = signal;
  }

  getSecret(namespace: string, name: string): Promise<FrozenSecret> {
    return once(this.#secrets, name, () => whileGoing(() => this.#secretReader.getSecret(namespace, name), this.#signal));
  }

  getConfigMap(namespace: string, name: string): Promise<FrozenConfigMap> {
    return once(this.#configMaps, name, () =>
      whileGoing(() => this.#configMapReader.getConfigMap(namespace, name), this.#signal),
    );
  }
}

function ownOf(texts: Texts, key: string): string | undefined {
  return texts !== undefined && Object.hasOwn(texts, key) ? texts[key] : undefined;
}
