import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus } from '../../../../src/api/json/types.ts';
import { needToReconcilePodReadiness } from '../../../../src/status/conditions/generate-runtime-conditions.ts';

const message = 'corresponding condition of pod readiness gate "gate" does not exist.';

function pod(conditions: PodStatus['conditions'], { gates = ['gate'], sidecar = false } = {}): Pod {
  const container = { image: '', imageID: '', restartCount: 0, ready: true };
  return {
    spec: {
      containers: [{ name: 'a' }],
      ...(sidecar && { initContainers: [{ name: 's', restartPolicy: 'Always' }] }),
      readinessGates: gates.map((conditionType) => ({ conditionType })),
    },
    status: {
      phase: 'Running',
      ...(conditions && { conditions }),
      containerStatuses: [{ ...container, name: 'a' }],
      ...(sidecar && { initContainerStatuses: [{ ...container, name: 's', started: true }] }),
    },
  };
}

describe('needToReconcilePodReadiness', () => {
  it('is true once a gate turned and Ready has not followed', () => {
    expect(
      needToReconcilePodReadiness(
        pod([
          { type: 'Ready', status: 'False', message },
          { type: 'gate', status: 'True' },
        ]),
      ),
    ).toBe(true);
    expect(needToReconcilePodReadiness(pod([{ type: 'Ready', status: 'True' }]))).toBe(true);
  });

  it('is true when only the message is out of date', () => {
    expect(needToReconcilePodReadiness(pod([{ type: 'Ready', status: 'False', message: 'old' }]))).toBe(true);
  });

  it('is false while Ready says what it should, whatever the reason', () => {
    expect(
      needToReconcilePodReadiness(
        pod([
          { type: 'Ready', status: 'True', reason: 'Other' },
          { type: 'gate', status: 'True' },
        ]),
      ),
    ).toBe(false);
    expect(needToReconcilePodReadiness(pod([{ type: 'Ready', status: 'False', message }]))).toBe(false);
  });

  it('is false without gates, and without a Ready condition', () => {
    expect(needToReconcilePodReadiness(pod([{ type: 'Ready', status: 'False' }], { gates: [] }))).toBe(false);
    expect(needToReconcilePodReadiness(pod([{ type: 'gate', status: 'True' }]))).toBe(false);
    expect(needToReconcilePodReadiness({})).toBe(false);
  });

  it('is false for a ready pod with a sidecar', () => {
    const conditions = [
      { type: 'Ready', status: 'True' },
      { type: 'gate', status: 'True' },
    ];
    expect(needToReconcilePodReadiness(pod(conditions, { sidecar: true }))).toBe(false);
  });
});
