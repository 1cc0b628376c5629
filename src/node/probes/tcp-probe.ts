// Behaviour of pkg/probe/tcp, v1.36.3.
import { connect } from 'node:net';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { dialFailure, isTimeout, joinHostPort } from './go-words.ts';
import type { ProbeOutcome, TcpProbeTarget } from './prober.ts';

/** A success when the port takes a connection, which is closed at once. */
export function tcpProbe({ host, port }: TcpProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
  const address = joinHostPort(host, port);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let leave = (): void => {};
    const end = (outcome: ProbeOutcome): void => {
      leave();
      socket.destroy();
      resolve(outcome);
    };
    const abort = (): void =>
      end({ result: 'failure', output: isTimeout(signal) ? `dial tcp ${address}: i/o timeout` : 'given up' });
    socket.on('error', (error) => end({ result: 'failure', output: dialFailure(error, host, address) }));
    socket.once('connect', () => end({ result: 'success' }));
    leave = onAbort(signal, abort);
  });
}
