import type { SteadyClock } from '../../../../src/base/clock.ts';
import type { ShardHost } from '../../../../src/fleet/member/shard-keeper-options.ts';
import { ShardTerm } from '../../../../src/fleet/member/shard-term.ts';
import { requesting, shardInPath } from './broken-leases.ts';
import type { MemberMaking } from './mutants.ts';

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
  const ended = new WeakSet<ShardTerm>();
  const terms = new Map<number, ShardTerm>();
  const end = (shard: number): void => {
    const term = terms.get(shard);
    if (term !== undefined) ended.add(term);
  };
  const broken: ShardHost = {
    gained: (shard, term) => {
      const fromAnswer = (): boolean =>
        !ended.has(term) && clock.elapsed() - (answeredAtMs.get(shard) ?? 0) < timing.renewDeadlineMs;
      terms.set(shard, term);
      host.gained(shard, lengthened(shard, term, { clock, ...timing, isOwned: fromAnswer }));
    },
    handOver: async (shard) => {
      await host.handOver(shard);
      end(shard);
    },
    lost: (shard) => {
      end(shard);
      return host.lost(shard);
    },
  };
  return { options: { ...options, transport }, host: broken };
}

interface Lengthened {
  readonly clock: SteadyClock;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly isOwned: () => boolean;
}

/** A term in whose place `isOwned` says until when it lasts. */
function lengthened(shard: number, term: ShardTerm, { isOwned, ...options }: Lengthened): ShardTerm {
  const other = new ShardTerm({ shard, ...options }, { elapsedMs: options.clock.elapsed(), at: options.clock.now() });
  return new Proxy(other, {
    get: (_, name) => {
      if (name === 'isOwned') return isOwned();
      if (name === 'requireOwned')
        return () => {
          if (!isOwned()) term.requireOwned();
        };
      const value: unknown = Reflect.get(term, name, term);
      return typeof value === 'function' ? value.bind(term) : value;
    },
  });
}

function nameOf(body: unknown): string {
  return (body as { metadata?: { name?: string } } | undefined)?.metadata?.name ?? '';
}
