import { expect, it } from 'vitest';
import { AgentApiHost } from '../../../src/agent/agent-api-host.ts';
import { FakeClock } from '../../../src/testing.ts';

it.each([
  -3_600_000, 3_600_000,
])('a loop that has not begun is silent for the time that passes, also when the wall clock is moved by %i ms', async (ms) => {
  const clock = new FakeClock();
  const parts = { clock, lastIterationAt: () => undefined } as unknown as ConstructorParameters<typeof AgentApiHost>[0];
  const [loop] = new AgentApiHost(parts).healthChecks();
  clock.jump(ms);
  expect(() => loop?.check()).not.toThrow();
  await clock.advance(3_600_000);
  expect(() => loop?.check()).toThrow('sync Loop took longer than expected: 3600000 ms');
});
