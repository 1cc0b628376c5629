import type { Bar } from '../support/results.ts';
import type { Churn } from './churn.ts';
import type { Comparison } from './compare.ts';

export interface Measured {
  readonly storms: readonly Comparison[];
  readonly limited: Comparison;
  readonly single: Comparison;
}

export interface Scenarios {
  readonly churn: Churn;
  /** The same with a manager that writes everything twice. It shows that the churn bar can fail. */
  readonly churnTwice: Churn;
  readonly lifecycle: { readonly requestsAChange: number };
  readonly quiet: { readonly total: number };
  readonly urgency: { readonly slots: readonly number[]; readonly delaysMs: readonly number[] };
}

/** The churn bar. A manager that writes everything twice makes 2 requests for each needed write. */
export const mostRequestsANeededWrite = 1.02;

/** Every bar compares with the Go manager as kubelets run it: with protobuf, the kubelet's default. */
export function barsOf({ storms, limited, single }: Measured, scenarios: Scenarios, churnPods: number): Bar[] {
  const large = storms.filter(({ pods }) => pods >= 500);
  const ofEach = (bar: (storm: Comparison) => Bar): Bar[] => large.map(bar);
  const { churn, churnTwice, lifecycle, quiet, urgency } = scenarios;
  return [
    ...ofEach(({ pods, ratios }) => ({
      what: `${pods} pods set at once, Go manager's time / ours`,
      value: ratios.goProtobuf.rivalToOursSeconds,
      atLeast: 2.2,
    })),
    ...ofEach(({ pods, oursToRawSeconds }) => ({
      what: `${pods} pods set at once, ours / bare patches`,
      value: oursToRawSeconds ?? Number.NaN,
      atMost: 1.15,
    })),
    ...ofEach(({ pods, results }) => ({
      what: `requests a change, storm of ${pods}`,
      value: results.ours?.requestsAnUpdate ?? Number.NaN,
      atMost: 1.02,
    })),
    { what: 'requests a needed write, churn', value: churn.requestsANeededWrite, atMost: mostRequestsANeededWrite },
    { what: 'share of pods whose last change is on the server, churn', value: churn.podsUpToDate / churnPods, atLeast: 1 },
    {
      what: 'requests a needed write, churn of a manager that writes twice',
      value: churnTwice.requestsANeededWrite,
      atLeast: 1.9,
    },
    { what: 'requests a change, lifecycle', value: lifecycle.requestsAChange, atMost: 1.02 },
    { what: 'requests of five quiet batches, 1000 pods', value: quiet.total, atMost: 0 },
    {
      what: 'single update, p50 from set to watch event, ours/Go',
      value: single.ratios.goProtobuf.oursToRivalP50,
      atMost: 0.85,
    },
    ...ofEach(({ pods, ratios }) => ({
      what: `client CPU an update, storm of ${pods}, ours/Go`,
      value: ratios.goProtobuf.oursToRivalCpu,
      atMost: 0.75,
    })),
    {
      what: `updates a second under ${limited.qps} qps`,
      value: limited.pods / (limited.results.ours?.seconds ?? Number.NaN),
      atLeast: 49,
    },
    { what: 'request slots an urgent change waits for, behind 1000', value: Math.max(...urgency.slots), atMost: 3 },
  ];
}
