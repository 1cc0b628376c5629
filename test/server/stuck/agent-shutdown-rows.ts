import { FakeShutdownSignals } from '../../../src/testing.ts';
import type { AgentRow, StuckAgent } from './stuck-agent.ts';

const machines = new WeakMap<StuckAgent, FakeShutdownSignals>();

/** An agent whose machine is to wait a minute for its pods. */
async function startOn(world: StuckAgent, machine: FakeShutdownSignals): Promise<void> {
  machines.set(world, machine);
  await world.start({ shutdownSignals: machine, shutdownGracePeriodMs: 60_000 });
  await world.pass(5000);
}

/** What is wrong with the shutdown of a node agent's machine, or because of it. */
export const agentShutdownRows: readonly AgentRow[] = [
  {
    id: 'shutting-down',
    title: 'a machine that shuts down',
    about: 'node',
    kind: 'shutting-down',
    words: 'the machine shuts down',
    log: { message: 'the machine shuts down: new pods are refused, and those that run end in order' },
    logWords: false,
    event: { reason: 'Shutdown' },
    eventWords: false,
    retried: false,
    help: 'Wait for the next start of the machine; shutdown -c calls off a shutdown that has not begun.',
    arrange: async (world) => {
      await startOn(world, new FakeShutdownSignals());
      machines.get(world)?.shutDown();
      await world.pass(5000);
    },
    mend: (world) => machines.get(world)?.callOff(),
  },
  {
    id: 'shutdown-unseen',
    title: 'a machine that does not say when it shuts down',
    about: 'node',
    kind: 'shutdown-unseen',
    words: 'Failed to connect to bus: No such file or directory',
    log: { message: 'a shutdown of the machine would not be heard of, or not wait for the pods' },
    help: 'See whether D-Bus and systemd-logind run, and whether busctl and systemd-inhibit are there: until then a shutdown kills the pods.',
    arrange: (world) => {
      const machine = new FakeShutdownSignals();
      machine.failure = new Error('Failed to connect to bus: No such file or directory');
      return startOn(world, machine);
    },
    mend: (world) => {
      const machine = machines.get(world);
      if (machine !== undefined) machine.failure = undefined;
    },
  },
  {
    id: 'shutdown-delay',
    title: 'a machine that does not wait long enough for its pods',
    about: 'node',
    kind: 'shutdown-delay',
    words: 'it was asked to wait 60 s, and waits 5 s',
    log: { message: 'the machine does not wait long enough for its pods at a shutdown: they get less time' },
    help: 'Set InhibitDelayMaxSec in /etc/systemd/logind.conf.d to what all groups take together, and reload systemd-logind.',
    retried: 'untimed',
    arrange: (world) => startOn(world, new FakeShutdownSignals({ canWaitLonger: false })),
  },
];
