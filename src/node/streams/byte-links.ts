import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Sent } from './stream-flows.ts';

/** The bytes between a client and this server, whatever carries them. */
export interface ByteLink {
  /** Begins to read. */
  listen(heard: { readonly onData: (bytes: Buffer) => void; readonly onEnd: () => void }): void;
  write(bytes: Buffer, sent?: Sent): void;
  pause(): void;
  resume(): void;
  /** Closes this side once all is written. */
  end(): void;
}

/** `head`: what was read already. */
export function socketLink(socket: Duplex, head: Buffer): ByteLink {
  return {
    listen({ onData, onEnd }) {
      if (head.length > 0) onData(head);
      socket.on('data', onData);
      socket.once('end', onEnd);
    },
    write: (bytes, sent) => void socket.write(bytes, sent),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
  };
}

/** The bytes that binary messages carry. */
export function webSocketLink(socket: WebSocket): ByteLink {
  return {
    listen({ onData, onEnd }) {
      socket.on('message', (data, isBinary) => {
        if (isBinary && Buffer.isBuffer(data)) onData(data);
        else socket.close(1003, 'only binary messages carry a tunnel');
      });
      socket.once('close', onEnd);
    },
    write: (bytes, sent) => socket.send(bytes, { binary: true }, sent),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    end: () => socket.close(1000),
  };
}
