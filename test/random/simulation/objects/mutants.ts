import type { PodRegistrar } from '../../../../src/index.ts';
import type { FrozenSecret } from '../../../../src/object-managers.ts';
import type { ResourceTransport } from '../../../../src/reflector.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { Rule } from './rules.ts';

/** The manager as the agent uses it. */
export interface ObjectAgent extends PodRegistrar {
  getSecret(namespace: string, name: string): Promise<FrozenSecret>;
}

/** A manager broken on purpose. */
export interface ObjectMutant {
  readonly name: string;
  readonly breaks: readonly Rule[];
  readonly transport?: (transport: ResourceTransport, prng: Prng) => ResourceTransport;
  readonly agent?: (agent: ObjectAgent, prng: Prng) => ObjectAgent;
}

export const objectMutants: readonly ObjectMutant[] = [
  {
    name: 'a watch is not closed now and then',
    breaks: ['no stray watch'],
    transport: ({ request, stream }, prng) => ({
      request,
      stream: (asked) => stream(prng.chance(0.2) ? { ...asked, signal: undefined } : asked),
    }),
  },
  {
    name: 'an old answer is served now and then',
    breaks: ['never older'],
    agent: (agent, prng) => {
      const before = new Map<string, FrozenSecret>();
      return {
        ...agent,
        getSecret: async (namespace, name) => {
          const secret = await agent.getSecret(namespace, name);
          const old = before.get(`${namespace}/${name}`) ?? secret;
          if (prng.chance(0.7)) before.set(`${namespace}/${name}`, secret);
          return prng.chance(0.1) ? old : secret;
        },
      };
    },
  },
  {
    name: 'a pod that is updated loses the references that it had',
    breaks: ['registered', 'bounded'],
    agent: (agent) => {
      const known = new Set<string | undefined>();
      return {
        ...agent,
        registerPod: (pod) => {
          const uid = pod.metadata?.uid;
          if (known.has(uid)) agent.unregisterPod(pod);
          else agent.registerPod(pod);
          known.add(uid);
        },
      };
    },
  },
  {
    name: 'a pod that ends keeps its references now and then',
    breaks: ['no stray watch', 'registered', 'bounded'],
    agent: (agent, prng) => ({
      ...agent,
      unregisterPod: (pod) => {
        if (prng.chance(0.8)) agent.unregisterPod(pod);
      },
    }),
  },
  {
    name: 'an object of which a request was refused is not asked for again',
    breaks: ['newest', 'in time', 'nothing left'],
    transport: ({ request, stream }) => {
      const refused = new Set<string>();
      const guard = async <T>(key: string, ask: () => Promise<T>): Promise<T> => {
        if (refused.has(key)) return new Promise<T>(() => {});
        try {
          return await ask();
        } catch (error) {
          if (error instanceof Error && 'status' in error && Number(error.status) >= 500) refused.add(key);
          throw error;
        }
      };
      const keyOf = ({ path, query }: { readonly path: string; readonly query?: URLSearchParams | undefined }): string =>
        `${path} ${query?.get('fieldSelector') ?? ''}`;
      return {
        request: (asked) => guard(keyOf(asked), () => request(asked)),
        stream: (asked) => guard(keyOf(asked), () => stream(asked)),
      };
    },
  },
];
