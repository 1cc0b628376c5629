import { describe } from 'vitest';
import { runtimeContract } from '../../support/runtime-contract/runtime-contract.ts';
import { containerdSubject } from './containerd-subject.ts';

describe('CriRuntime over containerd keeps the contract of a container runtime', () => runtimeContract(containerdSubject));
