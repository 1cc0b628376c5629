import type { PodClient, RequestOptions } from '../../../src/index.ts';
import type { Prng } from '../chaos/prng.ts';
import { pause } from './pause.ts';

const longestMs = 1500;

/** A client whose aborted requests take their time to settle, as on a connection that is slow to close. */
export function settlingLate(client: PodClient, prng: Prng): PodClient {
  const late = async <T>(answer: Promise<T>, { signal }: RequestOptions): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (signal.aborted) await pause(prng.between(0, longestMs));
      throw error;
    }
  };
  return {
    getPod: (namespace, name, options) => late(client.getPod(namespace, name, options), options),
    patchPodStatus: (namespace, name, patch, options) => late(client.patchPodStatus(namespace, name, patch, options), options),
    deletePod: (namespace, name, options) => late(client.deletePod(namespace, name, options), options),
  };
}
