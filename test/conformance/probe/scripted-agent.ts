import type { WirePodStatus } from '../../../src/index.ts';
import { ProbeManager } from '../../../src/node/probes/probe-manager.ts';
import { type ProbeResultUpdate, probeTypes } from '../../../src/node/probes/probe-types.ts';
import type { ExecProbeTarget, ProbeOutcome } from '../../../src/node/probes/prober.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import type { CommandAnswer, ProbeRun, RecordedUpdate } from './probe-case.ts';

/** The agent of a recording has run for 100 s at the first step: every probe then begins at once. */
const firstStepAt = Date.UTC(2000, 0, 1, 0, 1, 40);

/** A probe manager with all that surrounds it in a recording: scripted commands and a status that the steps set. */
export class ScriptedAgent {
  readonly clock = new FakeClock({ start: firstStepAt });
  readonly answers = new Map<string, CommandAnswer>();
  readonly manager: ProbeManager;
  status: WirePodStatus | undefined;
  readonly #runs: ProbeRun[] = [];
  readonly #updates: RecordedUpdate[] = [];
  readonly #events: string[] = [];

  constructor() {
    const notByExec = async (): Promise<never> => Promise.reject(new Error('a recording has exec probes only'));
    this.manager = new ProbeManager({
      logger: null,
      prober: { exec: (target) => this.#exec(target), http: notByExec, tcp: notByExec, grpc: notByExec },
      statusManager: {
        getPodStatus: () => this.status,
        setContainerReadiness: () => true,
        setContainerStartup: () => true,
      },
      handlers: { resultChanged: (update) => this.#note(update) },
      eventRecorder: { event: (_, type, reason, message) => void this.#events.push(`${type} ${reason} ${message}`) },
      agentStartedAt: Date.UTC(2000, 0, 1),
      clock: this.clock,
    });
  }

  takeRuns(): ProbeRun[] {
    return sortedBy(this.#runs.splice(0), ({ probe }) => probe);
  }

  takeUpdates(): RecordedUpdate[] {
    return sortedBy(this.#updates.splice(0), ({ type, containerID }) => `${type} ${containerID}`);
  }

  takeEvents(): string[] {
    return this.#events.splice(0).sort();
  }

  /** What is known of these containers now. */
  results(containerIDs: Iterable<string>): Record<string, string> {
    const entries: [string, string][] = [];
    for (const containerID of containerIDs) {
      for (const type of probeTypes) {
        const result = this.manager.result(type, containerID);
        if (result !== undefined) entries.push([`${type} ${containerID}`, upstreamWord(result)]);
      }
    }
    return Object.fromEntries(entries);
  }

  get #at(): number {
    return (this.clock.now() - firstStepAt) / 1000;
  }

  async #exec({ command, containerID }: ExecProbeTarget): Promise<ProbeOutcome> {
    const probe = command.join(' ');
    const answer = this.answers.get(probe) ?? 'ok';
    this.#runs.push({ probe, containerID, answer, at: this.#at });
    if (answer === 'error') throw new Error('no such runtime');
    return answer === 'ok' ? { result: 'success', output: 'fine' } : { result: 'failure', output: 'bad' };
  }

  #note({ type, containerID, result }: ProbeResultUpdate): void {
    this.#updates.push({ type, containerID, result: upstreamWord(result), at: this.#at });
  }
}

function upstreamWord(result: string): string {
  return result === 'Unknown' ? 'UNKNOWN' : result;
}

function sortedBy<T>(items: T[], key: (item: T) => string): T[] {
  return items.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}
