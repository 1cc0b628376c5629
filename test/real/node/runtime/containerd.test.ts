import { afterAll, beforeAll, describe } from 'vitest';
import { runtimeContract } from '../../../support/runtime-contract/runtime-contract.ts';
import { kitStartMs, startTestKit } from '../support/test-kit.ts';
import { Containerd } from './containerd.ts';
import { containerdSubject } from './containerd-subject.ts';

let testKit: Awaited<ReturnType<typeof startTestKit>>;

beforeAll(async () => {
  testKit = await startTestKit('none');
}, kitStartMs);

afterAll(() => testKit?.close());

describe('CriRuntime over containerd keeps the contract of a container runtime', () =>
  runtimeContract(() => containerdSubject(new Containerd(testKit.kit.run))));
