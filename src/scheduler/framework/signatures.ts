import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { Plugin } from './plugin.ts';

/** The signatures of the pod that is tried: each plugin is asked once for each attempt. */
export class Signatures {
  readonly #texts = new Map<Plugin, string | undefined>();

  /** Another attempt, perhaps at the same pod. */
  begin(): void {
    this.#texts.clear();
  }

  of(plugin: Plugin, pod: PodInfo): string | undefined {
    const known = this.#texts.get(plugin);
    if (known !== undefined) return known;
    const text = textOf(plugin, pod);
    this.#texts.set(plugin, text);
    return text;
  }
}

/** A plugin that throws, or answers no text, has none. */
function textOf(plugin: Plugin, pod: PodInfo): string | undefined {
  const text: unknown = callGuarded(() => plugin.signature?.(pod), ignoreFailure);
  return typeof text === 'string' ? text : undefined;
}
