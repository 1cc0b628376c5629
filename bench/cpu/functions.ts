// Measures the pure functions that a change goes through, with tinybench: node bench/cpu/functions.ts
import { Bench } from 'tinybench';
import { createWirePodStatusPatch } from '../../src/api/patch/pod-status-patch.ts';
import { createPodStatusPatch } from '../../src/index.ts';
import { normalizeStatus } from '../../src/status/canonical/normalize-status.ts';
import { mergePodStatus } from '../../src/status/rules/merge-pod-status.ts';
import { isPodStatusByKubeletEqual } from '../../src/status/rules/pod-status-equality.ts';
import { localPod, statusFor, wholeSecondNow } from '../support/workload.ts';
import { withDates } from './with-dates.ts';

const now = wholeSecondNow();
const pod = localPod(1);
const [old, next] = [normalizeStatus(pod, statusFor(1, 0, now)), normalizeStatus(pod, statusFor(1, 1, now))];
const [raw, rawNext] = [statusFor(1, 0, now), statusFor(1, 1, now)];
const [dates, datesNext] = [withDates(raw), withDates(rawNext)];
const normalized = normalizeStatus(pod, raw);
const guards = { uid: 'uid-1', resourceVersion: '1' };

const bench = new Bench({ time: 400, warmupTime: 100 })
  .add('normalizeStatus, first', () => normalizeStatus(pod, raw))
  .add('normalizeStatus, changed', () => normalizeStatus(pod, rawNext, { previous: old }))
  .add('normalizeStatus, unchanged', () => normalizeStatus(pod, raw, { previous: old }))
  .add('normalizeStatus with Dates, changed', () => normalizeStatus(pod, datesNext, { previous: old }))
  .add('normalizeStatus with Dates, unchanged', () => normalizeStatus(pod, dates, { previous: old }))
  .add('isPodStatusByKubeletEqual, equal but not shared', () => isPodStatusByKubeletEqual(old, normalized))
  .add('mergePodStatus', () => mergePodStatus(old, next, { pod, couldHaveRunningContainers: false, now }))
  .add('patch creation', () => createWirePodStatusPatch(old, next, guards))
  .add('patch creation, nothing to change', () => createWirePodStatusPatch(old, normalized, guards))
  .add('createPodStatusPatch, exported', () => createPodStatusPatch(raw, rawNext, guards))
  .add('createPodStatusPatch, JSON Patch', () => createPodStatusPatch(raw, rawNext, { ...guards, format: 'json' }));

await bench.run();
const medians = bench.tasks.map(({ name, result }) => {
  if (!('latency' in result)) throw new Error(`${name} did not run`);
  return { name, medianUs: result.latency.p50 * 1000 };
});
console.log(JSON.stringify(medians));
