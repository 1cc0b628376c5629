import type { ExecProbeTarget, ProbeOutcome, Prober } from '../../../../../src/node/probes/prober.ts';
import type { Prng } from '../../../chaos/prng.ts';
import type { SimulatedClock } from '../../simulated-clock.ts';
import type { ContainerRecord } from '../runtime/records.ts';
import type { SimulatedRuntime } from '../runtime/simulated-runtime.ts';
import { type Lifeline, never } from './lifeline.ts';

export interface ProberParts {
  readonly clock: SimulatedClock;
  readonly runtime: SimulatedRuntime;
  readonly prng: Prng;
  readonly lifeline: Lifeline;
  readonly isCalm: () => boolean;
  /** Told of each probe, before it is answered. */
  readonly probed: (containerID: string, container: ContainerRecord | undefined) => void;
  /** Told of each answer that a liveness probe has failed. */
  readonly failed: (container: ContainerRecord) => void;
}

/** The probes are commands: `live` and `ready`. */
export function simulatedProber(parts: ProberParts): Prober {
  const { clock, prng, lifeline, runtime } = parts;
  const exec = async ({ containerID, command: [type] }: ExecProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> => {
    if (!lifeline.admits('a probe')) return never();
    const container = runtime.container(containerID);
    parts.probed(containerID, container);
    const isSlow = !parts.isCalm() && prng.chance(0.03);
    // the agent gives up a probe that takes long: it has failed
    if (isSlow && type === 'live' && container !== undefined) parts.failed(container);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    clock.schedule(resolve, isSlow ? prng.between(1000, 9000) : prng.between(1, 100));
    if (prng.chance(0.8)) signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    try {
      await promise;
    } finally {
      if (lifeline.isDead) await never();
    }
    if (!parts.isCalm() && prng.chance(0.02)) throw new Error('the command could not be run');
    if (container?.isRunning !== true) throw new Error('the container does not run');
    const ageMs = clock.elapsedMs - container.start.startedMs;
    const isGood = type === 'live' ? ageMs < container.life.sickAfterMs : ageMs >= container.life.readyAfterMs;
    if (!isGood && type === 'live') parts.failed(container);
    return { result: isGood ? 'success' : 'failure' };
  };
  const unused = async (): Promise<ProbeOutcome> => ({ result: 'unknown' });
  return { exec, http: unused, tcp: unused, grpc: unused };
}
