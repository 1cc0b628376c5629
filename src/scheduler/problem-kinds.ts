/**
 * What a scheduler can say is wrong, beside what a failed request is called. The page *When something is wrong* has a row for each: a test
 * holds that, and the types below hold that no other kind is told.
 */
export const schedulerProblemKinds = [
  ...['not-running', 'no-nodes', 'no-node-fits', 'volume-claim', 'resource-claim', 'pod-group', 'gated', 'waits-for-victims'],
  ...['permit', 'refused-node', 'waits-before-binding', 'slow-binding', 'not-confirmed', 'preempted', 'scheduling-failed'],
  ...['client-failed', 'plugin-failed', 'extender-failed', 'waits-for-extender', 'extender-passed-over'],
] as const;

declare const ofRequest: unique symbol;

/** What a failed request is called, such as `forbidden`. */
export type RequestProblemKind = string & { readonly [ofRequest]: true };

export type SchedulerProblemKind = (typeof schedulerProblemKinds)[number] | RequestProblemKind;
