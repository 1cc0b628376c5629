import type { ContainerRuntime } from '../../../../src/kubelet/runtime/container-runtime.ts';
import type { FakeRuntime } from '../../../../src/testing.ts';
import { type Lifeline, never } from '../node/agent/lifeline.ts';

/** The runtime as one run of an agent has it: nothing is asked, and nothing answered, when the agent is gone. */
export function mortalRuntime(runtime: FakeRuntime, lifeline: Lifeline, gone: AbortSignal): ContainerRuntime {
  const method = (name: string, call: (...values: unknown[]) => unknown) => {
    return (...values: unknown[]): unknown => {
      if (!lifeline.admits(`runtime: ${name}`)) return never();
      if (name === 'events') return call(AbortSignal.any([values[0] as AbortSignal, gone]));
      return unlessDead(call(...values), lifeline);
    };
  };
  return new Proxy(runtime, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? method(String(name), value.bind(target)) : value;
    },
  });
}

async function unlessDead(answer: unknown, lifeline: Lifeline): Promise<unknown> {
  try {
    return await answer;
  } finally {
    if (lifeline.isDead) await never();
  }
}
