import { describe } from 'vitest';
import { runtimeContract } from '../../../support/runtime-contract/runtime-contract.ts';
import { fakeSubject } from './fake-subject.ts';

describe('FakeRuntime keeps the contract of a container runtime', () => runtimeContract(fakeSubject));
