import type { AdmissionCheck } from './check.ts';

/** Refuses a pod of which the agent keeps only an outline. The kubelet has no such rule: it takes as much memory as pods make it. */
export function podSize(tooLarge: (podUID: string) => string | undefined): AdmissionCheck {
  return ({ pod }) => {
    const message = tooLarge(pod.metadata?.uid ?? '');
    return message === undefined ? undefined : { reason: 'PodTooLarge', message };
  };
}
