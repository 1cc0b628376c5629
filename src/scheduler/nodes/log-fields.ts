import type { PodInfo } from './pod-info.ts';

/** What names a pod in the fields of a log line. */
export interface PodFields {
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUID: string;
}

export function podFields({ namespace, name, uid }: Pick<PodInfo, 'namespace' | 'name' | 'uid'>): PodFields {
  return { podNamespace: namespace, podName: name, podUID: uid };
}
