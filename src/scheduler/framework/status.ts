/**
 * Why a plugin says no. `Unschedulable`: the end of other pods may help. `UnschedulableAndUnresolvable`: it would not.
 * `Pending`: the plugin waits for something outside, and says when to try again.
 */
export type RejectionCode = 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending';

/** What a plugin answers that does not agree. A plugin that agrees answers undefined; one that cannot say throws. */
export interface Rejection {
  /** What could help. */
  readonly code: RejectionCode;
  /** In words for people; equal reasons of several nodes are counted together. */
  readonly reasons: readonly string[];
}

/** A rejection, and whose it is. */
export interface PluginRejection extends Rejection {
  /** Empty where it is the answer of several plugins. */
  readonly plugin: string;
  /** Of a node that all filters have looked at: what each of them said that rejected it. */
  readonly parts?: readonly PluginRejection[];
}
