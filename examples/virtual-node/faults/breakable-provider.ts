import type { NodePod, PodProvider, ProviderCall } from 'pod-status-manager/node';

/** Stands between the node and its provider: it may answer by itself, or let the provider answer. */
export type Between<Answer = unknown> = (pod: NodePod, call: ProviderCall, answer: () => Answer) => Answer;

/** The calls that go wrong now. */
export interface BrokenCalls {
  createPod?: Between | undefined;
  deletePod?: Between | undefined;
  getPodStatus?: Between<ReturnType<PodProvider['getPodStatus']>> | undefined;
}

/** The provider, whose calls go wrong as `broken` says at that moment. */
export function breakable(provider: PodProvider, broken: BrokenCalls): PodProvider {
  const through = <Call extends ProviderCall, Answer>(
    between: () => Between<Answer> | undefined,
    real: (pod: NodePod, call: Call) => Answer,
  ) => {
    return (pod: NodePod, call: Call): Answer => {
      const answer = (): Answer => real(pod, call);
      const stands = between();
      return stands === undefined ? answer() : stands(pod, call, answer);
    };
  };
  const { notifyPods } = provider;
  return {
    createPod: through(
      () => broken.createPod,
      (pod, call) => provider.createPod(pod, call),
    ),
    deletePod: through(
      () => broken.deletePod,
      (pod, call) => provider.deletePod(pod, call),
    ),
    getPodStatus: through(
      () => broken.getPodStatus,
      (pod, call) => provider.getPodStatus(pod, call),
    ),
    ...(notifyPods !== undefined && { notifyPods: (notify, tools) => notifyPods.call(provider, notify, tools) }),
  };
}
