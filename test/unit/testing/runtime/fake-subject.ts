import { FakeClock, FakeRuntime, settle } from '../../../../src/testing.ts';
import {
  type ContractLifeName,
  commandOf,
  contractCommands,
  contractLives,
  noSuchCommand,
} from '../../../support/runtime-contract/contract-lives.ts';
import type { RuntimeSubject } from '../../../support/runtime-contract/runtime-subject.ts';

const sameCommand = (one: readonly string[], other: readonly string[]): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A runtime in memory whose containers live as the contract's scripts do. Its time moves as soon as somebody waits. */
export async function fakeSubject(): Promise<RuntimeSubject> {
  const clock = new FakeClock();
  const files = new Map<string, string>();
  const append = (path: string, text: string): void => void files.set(path, `${files.get(path) ?? ''}${text}`);
  const runtime = new FakeRuntime({
    clock,
    images: ['busybox:1.36'],
    files: { append, write: (path, text) => void files.set(path, text) },
    lives: ({ config: { command } }) => lifeOf(command),
    exec: ({ command }) => Object.values(contractCommands).find((known) => sameCommand(known.command, command))?.result ?? {},
  });
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    for (let seconds = 0; !(await condition()); seconds += 1) {
      if (seconds > 1000) throw new Error(`never happened: ${condition}`);
      await clock.advance(100);
    }
  };
  return {
    runtime,
    image: 'busybox:1.36',
    pullableImage: 'registry.example/pause:3.10',
    missingImage: 'registry.example/no-such-image:1',
    async settled(work) {
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      work.then(over, over);
      await settle();
      await until(() => isOver);
      return work;
    },
    until,
    now: () => clock.now(),
    readFile: async (path) => files.get(path) ?? '',
    takeDown: async () => runtime.restart({ downMs: 1_000_000_000 }),
    bringUp: async () => runtime.restart(),
    close: () => runtime.close(),
  };
}

function lifeOf(command: readonly string[]) {
  if (command[0] === noSuchCommand) return { startError: `exec: "${noSuchCommand}": no such file or directory` };
  const names = Object.keys(contractLives) as ContractLifeName[];
  const name = names.find((known) => sameCommand(commandOf(known), command));
  return name === undefined ? {} : contractLives[name].life;
}
