import type { ReflectorHandlers } from '../../../../src/client/reflector/handler-calls.ts';
import type { ApiObject } from '../../../../src/client/resources/api-resource.ts';
import type { PartsFound } from './rules.ts';

/** Checks what a reflector tells its handlers: each change once, after the one before, and never back in time. */
export class ToldObjects {
  readonly #held = new Map<string, ApiObject>();
  readonly #newest = new Map<string, number>();
  readonly #found: PartsFound;

  constructor(found: PartsFound) {
    this.#found = found;
  }

  readonly handlers: ReflectorHandlers<ApiObject> = {
    added: (object) => this.#set(object, undefined),
    updated: (object, previous) => this.#set(object, previous),
    deleted: (object) => {
      if (!this.#held.delete(nameOf(object))) this.#wrong(`${nameOf(object)} is deleted and was never added`);
    },
  };

  /** What the handlers know, as `name version`, in order of the names. */
  list(): string[] {
    return shownVersions([...this.#held.values()]);
  }

  #set(object: ApiObject, previous: ApiObject | undefined): void {
    const name = nameOf(object);
    if (versionOf(this.#held.get(name)) !== versionOf(previous))
      this.#wrong(`${name}: ${versionOf(previous)} is said to be the one before, told was ${versionOf(this.#held.get(name))}`);
    const version = Number(versionOf(object));
    const newest = this.#newest.get(name) ?? 0;
    if (version <= newest)
      this.#found('nothing older is given out after something newer', `reflector: ${name} ${version} after ${newest}`);
    this.#newest.set(name, Math.max(version, newest));
    this.#held.set(name, object);
  }

  #wrong(detail: string): void {
    this.#found('each change is told once, after the one before', detail);
  }
}

/** Names with versions, in order. */
export function shownVersions(objects: readonly ApiObject[]): string[] {
  return objects.map((object) => `${nameOf(object)} ${versionOf(object)}`).sort();
}

function nameOf({ metadata }: ApiObject): string {
  return metadata?.name ?? '';
}

function versionOf(object: ApiObject | undefined): string | undefined {
  return object?.metadata?.resourceVersion;
}
