import type { JsonObject } from '../../../../src/api/json/types.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';
import { SimulatedObjects } from './simulated-objects.ts';

/** The server's objects; it says which changes are the agent's. */
export class WitnessedObjects extends SimulatedObjects {
  isAgentWriting = false;

  override answer(request: KubeRequest): JsonObject {
    this.isAgentWriting = true;
    try {
      return super.answer(request);
    } finally {
      this.isAgentWriting = false;
    }
  }
}
