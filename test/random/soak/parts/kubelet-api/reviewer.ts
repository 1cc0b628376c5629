import type { KubeletApiOptions } from '../../../../../src/kubelet.ts';
import type { SoakWorld } from '../../soak-world.ts';

/** What becomes of a request with a token of that sort, and the status that it is answered with. */
export const fates = {
  allowed: 200,
  forbidden: 403,
  unknown: 401,
  'nobody-knows': 401,
  'no-answer': 401,
  'nobody-decides': 500,
  'no-decision': 500,
} as const;

export type Fate = keyof typeof fates;

interface ReviewRequest {
  readonly body: { readonly spec: { readonly token?: string; readonly user?: string } };
}

/** A token, and the name of the user that has it. The part before the dot is what becomes of the request. */
export function tokenOf(fate: Fate, name: string): string {
  return `${fate}.${name}`;
}

/** An apiserver that reviews tokens and rights, and nothing else. */
export function reviewer(world: SoakWorld): KubeletApiOptions['transport'] {
  const { partClock: clock, prng } = world;
  const request = async ({ body }: ReviewRequest): Promise<unknown> => {
    world.expectGone(body);
    const { token, user = '' } = body.spec;
    const fate = (token ?? user).split('.')[0] as Fate;
    await new Promise<void>((resolve) => void clock.setTimer(resolve, prng.between(1, 10)));
    if (token !== undefined) {
      if (fate === 'nobody-knows') throw new Error('the server has a problem');
      if (fate === 'no-answer') return new Promise(() => {});
      return { status: fate === 'unknown' ? { authenticated: false } : { authenticated: true, user: { username: token } } };
    }
    if (fate === 'nobody-decides') throw new Error('the server has a problem');
    if (fate === 'no-decision') return new Promise(() => {});
    return { status: { allowed: fate !== 'forbidden' } };
  };
  const stream = () => Promise.reject(new Error('reviews are no streams'));
  return { request, stream } as unknown as KubeletApiOptions['transport'];
}
