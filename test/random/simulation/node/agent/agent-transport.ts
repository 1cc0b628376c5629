import type { KubeRequest, KubeStream, KubeTransport } from '../../../../../src/client/transport/kube-transport.ts';
import type { SimulatedTransport } from '../../parts/simulated-transport.ts';
import { type Lifeline, never } from './lifeline.ts';

/** The transport of one run of the agent: it ends with its process. */
export function agentTransport(transport: SimulatedTransport, lifeline: Lifeline): KubeTransport {
  const guarded = {
    request: (request: KubeRequest) =>
      lifeline.admits(`${request.method} ${request.path}`)
        ? unlessDead(transport.request(whileAlive(request, lifeline)), lifeline)
        : never(),
    stream: (request: KubeStream) => {
      if (!lifeline.admits(`a watch of ${request.path}`)) return never<void>();
      const onChunk = (chunk: Buffer): void => {
        if (!lifeline.isDead) request.onChunk(chunk);
      };
      return unlessDead(transport.stream({ ...request, onChunk }), lifeline);
    },
    close: () => Promise.resolve(),
  };
  // the parts need of a transport no more than these methods
  return guarded as unknown as KubeTransport;
}

/** What waits in a process to be sent ends with it. */
function whileAlive(request: KubeRequest, lifeline: Lifeline): KubeRequest {
  const { guard } = request;
  if (guard === undefined) return request;
  const ofTheLiving = (): void => {
    if (lifeline.isDead) throw new Error('the process is gone');
    guard();
  };
  return { ...request, guard: ofTheLiving };
}

async function unlessDead<T>(answer: Promise<T>, lifeline: Lifeline): Promise<T> {
  try {
    return await answer;
  } finally {
    if (lifeline.isDead) await never();
  }
}
