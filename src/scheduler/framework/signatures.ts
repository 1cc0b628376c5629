import type { PodInfo } from '../nodes/pod-info.ts';
import type { ExtensionPoint, Plugin } from './plugin.ts';
import { pluginFailure, wrongAnswer } from './plugin-error.ts';

/** The signatures of the pod that is tried: each plugin is asked once for each attempt. */
export class Signatures {
  readonly #texts = new Map<Plugin, string | undefined>();

  /** Another attempt, perhaps at the same pod. */
  begin(): void {
    this.#texts.clear();
  }

  /** Undefined: nothing is kept of this plugin for the pod. Throws PluginError. `point`: where it is used. */
  of(plugin: Plugin, pod: PodInfo, point: ExtensionPoint): string | undefined {
    const known = this.#texts.get(plugin);
    if (known !== undefined) return known;
    const text = signatureOf(plugin, pod, point);
    this.#texts.set(plugin, text);
    return text;
  }
}

/** Only a text tells pods apart: an object would be the same text for all of them. */
function signatureOf(plugin: Plugin, pod: PodInfo, point: ExtensionPoint): string | undefined {
  let text: unknown;
  try {
    text = plugin.signature?.(pod);
  } catch (error) {
    throw pluginFailure(plugin.name, point, error);
  }
  if (text === undefined || typeof text === 'string') return text;
  throw wrongAnswer(plugin.name, point, 'a string or undefined from signature', text);
}
