import type { Plugin } from '../../framework/plugin.ts';
import { volumeBinding } from '../../plugins/volumes/claims.ts';

/** Stands for a predicate about claimed volumes: rejects a pod that claims one, because this scheduler knows no claims. */
export function refuseClaims(name: string): Plugin {
  return { ...volumeBinding(), name };
}
