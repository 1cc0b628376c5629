import type { Pod } from '../../../../src/api/json/types.ts';
import { heldByContainers, heldByVolumes } from '../../../../src/node/provider/held-pod.ts';
import type { NodePod } from '../../../../src/node/provider/pod-provider.ts';
import type { PodResolver, Resolution, ResolveOptions } from '../../../../src/node/provider/pod-resolver.ts';

/** Gives each container the variable VALUE, and each volume of a secret the file `value`, as a test says. */
export class FakeResolver {
  value = 'one';
  /** What is missing: nothing, a variable of this container, or the files of all volumes. */
  missing: 'nothing' | 'files' | { readonly container: string } = 'nothing';
  /** The error behind what is missing. */
  failure = new Error('secret "db" not found');
  /** Waited for by each resolution. */
  gate: Promise<unknown> = Promise.resolve();
  /** `register NAME` and `unregister NAME`. */
  readonly log: string[] = [];
  /** How many resolutions are not released. */
  held = 0;
  /** What was asked for. */
  readonly asked: ResolveOptions[] = [];

  get asResolver(): PodResolver {
    return this as unknown as PodResolver;
  }

  register({ metadata }: Pod): void {
    this.log.push(`register ${metadata?.name}`);
  }

  unregister({ metadata }: Pod): void {
    this.log.push(`unregister ${metadata?.name}`);
  }

  async resolve(pod: Pod, _: readonly string[], signal: AbortSignal, options: ResolveOptions = {}): Promise<Resolution> {
    this.asked.push(options);
    signal.throwIfAborted();
    await this.gate;
    const { missing, failure } = this;
    const names = (pod.spec?.volumes ?? []).map(({ name }) => name);
    if (missing === 'files') return { held: heldByVolumes(pod, new Map(names.map((name) => [name, failure]))) };
    const lacks = missing === 'nothing' ? undefined : missing.container;
    if (lacks !== undefined && (options.containers?.includes(lacks) ?? true)) {
      return { held: heldByContainers(pod, new Map([[lacks, failure]])) };
    }
    this.held += 1;
    const files = Object.fromEntries(names.map((name) => [name, { value: { data: Buffer.from(this.value), mode: 0o640 } }]));
    const containers = (pod.spec?.containers ?? []).map((one) => ({ ...one, env: [{ name: 'VALUE', value: this.value }] }));
    const made = { ...pod, files, spec: { ...pod.spec, containers } } as NodePod;
    const release = (): void => {
      this.held -= 1;
    };
    return { pod: made, notes: [], release };
  }
}
