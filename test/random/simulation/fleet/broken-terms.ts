import type { SteadyClock } from '../../../../src/base/clock.ts';
import type { ShardHost } from '../../../../src/fleet/member/shard-keeper-options.ts';
import type { ShardTerm } from '../../../../src/fleet/member/shard-term.ts';
import { requesting, shardInPath } from './broken-leases.ts';
import type { MemberMaking } from './mutants.ts';

/** Until when a broken term lasts. */
interface Judgement {
  readonly isOwned: () => boolean;
  /** The term has ended in good order. */
  readonly end: () => void;
}

/** The term of a shard goes on for its whole time from the moment when the last renewal was answered. */
export function countingFromAnswers({ options, host }: MemberMaking): MemberMaking {
  const { clock, timing } = options;
  const answeredAtMs = new Map<number, number>();
  const transport = requesting(options.transport, async (request, send) => {
    const answer = await send(request);
    const shard = shardInPath(request.path) ?? shardInPath(nameOf(request.body));
    if (request.method !== 'GET' && shard !== undefined) answeredAtMs.set(shard, clock.elapsed());
    return answer;
  });
  const fromAnswer = (shard: number): Judgement => {
    let hasEnded = false;
    return {
      isOwned: () => !hasEnded && clock.elapsed() - (answeredAtMs.get(shard) ?? 0) < timing.renewDeadlineMs,
      end: () => {
        hasEnded = true;
      },
    };
  };
  return { options: { ...options, transport }, host: judging(host, fromAnswer) };
}

/** A timer looks once a second whether the term goes on: who has been paused writes before it fires. */
export function lookingNowAndThen({ options, host }: MemberMaking): MemberMaking {
  return { options, host: judging(host, (_, term) => lookedAt(term, options.clock)) };
}

function lookedAt(term: ShardTerm, clock: SteadyClock): Judgement {
  let isOwned = true;
  let cancel = (): void => {};
  const end = (): void => {
    isOwned = false;
    cancel();
  };
  const look = (): void => {
    if (term.isOwned) cancel = clock.setTimer(look, 1000);
    else end();
  };
  look();
  return { isOwned: () => isOwned, end };
}

/** The nodes are given terms that last for as long as `made` says. */
function judging(host: ShardHost, made: (shard: number, term: ShardTerm) => Judgement): ShardHost {
  const ends = new Map<number, () => void>();
  return {
    gained: (shard, term) => {
      const judgement = made(shard, term);
      ends.set(shard, judgement.end);
      return host.gained(shard, judged(term, judgement));
    },
    handOver: async (shard) => {
      await host.handOver(shard);
      ends.get(shard)?.();
    },
    lost: (shard) => {
      ends.get(shard)?.();
      return host.lost(shard);
    },
  };
}

/** A term in whose place `isOwned` says until when it lasts. */
function judged(term: ShardTerm, { isOwned }: Judgement): ShardTerm {
  return new Proxy(term, {
    get: (_, name) => {
      if (name === 'isOwned') return isOwned();
      if (name === 'requireOwned') return () => (isOwned() ? undefined : term.requireOwned());
      const value: unknown = Reflect.get(term, name, term);
      return typeof value === 'function' ? value.bind(term) : value;
    },
  });
}

function nameOf(body: unknown): string {
  return (body as { metadata?: { name?: string } } | undefined)?.metadata?.name ?? '';
}
