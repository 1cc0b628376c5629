import type { ContainerLife, FakeExecResult } from '../../../src/testing.ts';

/** A life of a container: what a shell runs, and the same in words of a FakeRuntime. */
interface ContractLife {
  readonly script: string;
  readonly life: ContainerLife;
}

const forEver = 'while :; do sleep 0.1; done';

export const contractLives = {
  runsUntilAsked: { script: `trap 'exit 7' TERM; ${forEver}`, life: { exitCode: 7 } },
  ignoresSigterm: { script: `trap '' TERM; ${forEver}`, life: { ignoresSigterm: true } },
  completes: { script: 'exit 0', life: { runsMs: 0 } },
  fails: { script: 'exit 3', life: { runsMs: 0, exitCode: 3 } },
  speaks: { script: `echo one; echo two; ${forEver}`, life: { logs: ['one', 'two'] } },
} as const satisfies Record<string, ContractLife>;

/** The names of the lives that containers of the contract have. */
export type ContractLifeName = keyof typeof contractLives;

/** What is run inside containers, and what comes of it. */
export const contractCommands = {
  speaks: {
    command: ['sh', '-c', 'echo out; echo err >&2; exit 5'],
    result: { stdout: 'out\n', stderr: 'err\n', exitCode: 5 },
  },
  writesMuch: {
    command: ['head', '-c', '1048576', '/dev/zero'],
    result: { stdout: '\0'.repeat(1_048_576) },
  },
  writesTooMuch: {
    command: ['head', '-c', '1048700', '/dev/zero'],
    result: { stdout: '\0'.repeat(1_048_700) },
  },
  lasts: { command: ['sleep', '60'], result: { takesMs: 60_000 } },
} as const satisfies Record<string, { command: readonly string[]; result: FakeExecResult }>;

/** The command that no image has: a container of it cannot start. */
export const noSuchCommand = '/no-such-command';

/** The command of a container that lives so. */
export function commandOf(name: ContractLifeName): string[] {
  return ['sh', '-c', contractLives[name].script];
}
