import type { Clock } from '../../base/clock.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { PodClient } from '../../client/resources/pod-client.ts';
import type { PodStatusReader } from '../cache/pod-statuses.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiCopies } from './api-copies.ts';
import type { Admission, RequestGate } from './request-gate.ts';
import type { WaitOnCopy } from './wait.ts';

/** What every sync works with. */
export interface SyncContext {
  readonly podClient: PodClient;
  readonly podStatuses: PodStatusReader;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly gate: RequestGate;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly fetchBeforePatch: 'when-unknown' | 'always';
  readonly patchFormat: 'strategic' | 'json';
  readonly ownedConditionTypes: ReadonlySet<string>;
}

/** One pod, in one attempt to bring its newest status to the apiserver. */
export interface SyncAttempt {
  readonly podUID: string;
  readonly admission: Admission;
  /** Read the pod from the apiserver first, whatever is known of it. */
  readonly fetch: boolean;
  /** A PATCH may have changed the pod since the copy at hand: the pod is read before "no change" is believed. */
  readonly inDoubt: boolean;
  /** What the newest version waits on: unless the pod turns out to have changed, it goes on waiting. */
  readonly waitsOn: WaitOnCopy | undefined;
}
