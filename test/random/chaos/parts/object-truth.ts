import type { ApiObject } from '../../../../src/client/resources/api-resource.ts';

export type ObjectKind = 'secrets' | 'configmaps';
export const objectKinds: readonly ObjectKind[] = ['secrets', 'configmaps'];

/** The label that the reflector of a run selects. */
export const tierLabel = 'parts.example/tier';

/** One version of an object: its number is in its data. */
export interface ObjectWrite {
  readonly n: number;
  readonly immutable: boolean;
  readonly tier: 'seen' | 'unseen';
}

interface DataObject extends ApiObject {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}

/** In each value, and nowhere else: no log and no error may have it. */
const valueMark = 'open-sesame';
const markInBase64 = Buffer.from(valueMark).toString('base64').slice(0, 12);

export function showsValue(text: string): boolean {
  return text.includes(valueMark) || text.includes(markInBase64);
}

/** What the server's objects are, and every version that they had: the test writes them, so it knows. */
export class ObjectTruth {
  readonly #writes = new Map<string, Map<number, ObjectWrite>>();
  readonly #standing = new Map<string, ObjectWrite>();
  #count = 0;

  /** Before a version is sent: from now on the server may have it. */
  begin(kind: ObjectKind, name: string, { immutable, tier }: Omit<ObjectWrite, 'n'>): ObjectWrite {
    const write = { n: ++this.#count, immutable, tier };
    const key = `${kind}/${name}`;
    const writes = this.#writes.get(key) ?? new Map<number, ObjectWrite>();
    this.#writes.set(key, writes.set(write.n, write));
    return write;
  }

  /** The server has it, or has none (undefined). */
  landed(kind: ObjectKind, name: string, write: ObjectWrite | undefined): void {
    if (write === undefined) this.#standing.delete(`${kind}/${name}`);
    else this.#standing.set(`${kind}/${name}`, write);
  }

  standing(kind: ObjectKind, name: string): ObjectWrite | undefined {
    return this.#standing.get(`${kind}/${name}`);
  }

  /** The version that the object is; undefined for anything that the server never had. */
  versionOf(kind: ObjectKind, name: string, object: ApiObject): ObjectWrite | undefined {
    const write = this.#writes.get(`${kind}/${name}`)?.get(numberIn(kind, object));
    if (write === undefined || object.metadata?.name !== name) return undefined;
    const { labels } = object.metadata;
    const isSame = (object as DataObject).immutable === (write.immutable || undefined) && labels?.[tierLabel] === write.tier;
    return isSame ? write : undefined;
  }
}

export function objectOf(kind: ObjectKind, namespace: string, name: string, { n, immutable, tier }: ObjectWrite): ApiObject {
  const text = `${valueMark} ${n}`;
  const value = kind === 'secrets' ? Buffer.from(text).toString('base64') : text;
  const head = { apiVersion: 'v1', kind: kind === 'secrets' ? 'Secret' : 'ConfigMap' };
  const metadata = { name, namespace, labels: { [tierLabel]: tier } };
  return { ...head, metadata, ...(immutable ? { immutable } : {}), data: { value } } as ApiObject;
}

/** The number in the data; NaN where there is none. */
function numberIn(kind: ObjectKind, object: ApiObject): number {
  const { value = '' } = (object as DataObject).data ?? {};
  const text = kind === 'secrets' ? Buffer.from(value, 'base64').toString() : value;
  return text.startsWith(`${valueMark} `) ? Number(text.slice(valueMark.length + 1)) : Number.NaN;
}
