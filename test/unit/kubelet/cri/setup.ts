import { onTestFinished } from 'vitest';
import { CriRuntime, type CriRuntimeOptions } from '../../../../src/cri.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { type CallAnswers, CriServer } from './cri-server.ts';

/** A runtime in virtual time over a server that answers as the test says. */
export async function setUp(answers: CallAnswers = {}, options: Partial<CriRuntimeOptions> = {}) {
  const server = await CriServer.start(answers);
  const clock = new FakeClock();
  const runtime = new CriRuntime({ socketPath: server.socketPath, clock, logger: null, ...options });
  onTestFinished(() => runtime.close());
  return { server, clock, runtime };
}

/** What a call rejects with. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('the call has not failed');
}
