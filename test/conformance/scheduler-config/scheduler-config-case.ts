import type { KindCase } from '../kinds/case-kind.ts';

export interface SchedulerConfigOutcome {
  /** Kube-scheduler starts with the file. */
  readonly taken: boolean;
  /** The file with every default. Absent where it is refused. */
  readonly complete?: unknown;
}

/** A recording of what kube-scheduler made of a configuration file. */
export interface SchedulerConfigCase extends KindCase {
  readonly text: string;
  readonly out: SchedulerConfigOutcome;
}

/** What is wrong with the case; undefined when it can be played. */
export function schedulerConfigProblem(value: unknown): string | undefined {
  const { text, out } = value as Partial<SchedulerConfigCase>;
  if (typeof text !== 'string') return 'a schedulerConfig case without a text';
  return typeof out?.taken === 'boolean' ? undefined : 'a schedulerConfig case that says nothing of what came out';
}
