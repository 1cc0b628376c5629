import type { Variant } from './play.ts';

export interface NamedVariant extends Required<Variant> {
  readonly name: string;
  /** The largest part of the (step, pod) pairs that exemptions may leave out. */
  readonly exemptAtMost: number;
}

/** Upstream's way (a GET before each patch) and ours, in both patch formats. */
export const variants: readonly NamedVariant[] = [
  { name: 'always, strategic', fetchBeforePatch: 'always', patchFormat: 'strategic', exemptAtMost: 0.05 },
  { name: 'always, json', fetchBeforePatch: 'always', patchFormat: 'json', exemptAtMost: 0.05 },
  { name: 'when-unknown, strategic', fetchBeforePatch: 'when-unknown', patchFormat: 'strategic', exemptAtMost: 0.08 },
  { name: 'when-unknown, json', fetchBeforePatch: 'when-unknown', patchFormat: 'json', exemptAtMost: 0.08 },
];
