import type { FakeRuntime } from '../../../../src/testing.ts';
import type { AgentRule } from './rules.ts';

/** An agent broken on purpose: something stands between it and its runtime. */
export interface AgentMutant {
  readonly name: string;
  /** The promises it breaks: one of them must be the first that is found broken. */
  readonly breaks: readonly AgentRule[];
  readonly breakage: (runtime: FakeRuntime) => FakeRuntime;
}

export const agentMutants: readonly AgentMutant[] = [
  {
    name: 'a container that is to be stopped is not',
    breaks: ['a pod leaves the server when nothing of it runs', 'nothing runs twice', 'what the server says is what runs'],
    breakage: replacing({ stopContainer: async () => {}, stopPodSandbox: async () => {} }),
  },
  {
    name: 'another exit code is told',
    breaks: ['every end that is told has happened'],
    breakage: (runtime) =>
      replacing({
        containerStatus: async (id: string) => {
          const details = await runtime.containerStatus(id);
          return details.state === 'exited' ? { ...details, exitCode: details.exitCode + 1 } : details;
        },
      })(runtime),
  },
  {
    name: 'what runs already is not seen',
    breaks: [
      'nothing runs twice',
      'nothing survives its deletion',
      'what the server says is what runs',
      'a pod leaves the server when nothing of it runs',
    ],
    breakage: replacing({ listContainers: async () => [], listPodSandboxes: async () => [] }),
  },
];

function replacing(methods: Readonly<Record<string, unknown>>): (runtime: FakeRuntime) => FakeRuntime {
  return (runtime) =>
    new Proxy(runtime, {
      get: (target, name) => {
        const value: unknown = methods[String(name)] ?? Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
}
