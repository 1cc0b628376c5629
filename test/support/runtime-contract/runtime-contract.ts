import { containerContract } from './contract-containers.ts';
import { eventContract } from './contract-events.ts';
import { execContract } from './contract-exec.ts';
import { healthContract } from './contract-health.ts';
import { imageContract } from './contract-images.ts';
import { logContract } from './contract-logs.ts';
import { sandboxContract } from './contract-sandboxes.ts';
import type { MakeRuntimeSubject } from './runtime-subject.ts';

/** What the agent relies on: the same tests for the runtime in memory and for a real one. */
export function runtimeContract(makeSubject: MakeRuntimeSubject): void {
  sandboxContract(makeSubject);
  containerContract(makeSubject);
  imageContract(makeSubject);
  execContract(makeSubject);
  eventContract(makeSubject);
  healthContract(makeSubject);
  logContract(makeSubject);
}
