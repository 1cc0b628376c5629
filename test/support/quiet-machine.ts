import { type Machine, readMachine } from '../../src/kubelet/machine/machine.ts';

/** This machine without the log of its kernel: what that says is nothing to a node in virtual time, and an agent that is killed keeps it open. */
export function quietMachine(): Machine {
  const { kernelLog: _, ...machine } = readMachine();
  return machine;
}
