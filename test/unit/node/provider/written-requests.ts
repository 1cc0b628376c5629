import { type Channel, channel } from 'node:diagnostics_channel';

interface SentRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
}

/** Every request to a server whose bytes this process has given to a socket over HTTP/1.1. */
export class WrittenRequests {
  readonly requests: SentRequest[] = [];
  readonly #channel: Channel = channel('undici:client:sendHeaders');
  readonly #note: (message: unknown) => void;

  constructor(url: string) {
    this.#note = (message) => {
      const { request } = message as { readonly request: SentRequest & { readonly origin: string | URL } };
      if (new URL(request.origin).origin === new URL(url).origin)
        this.requests.push({ method: request.method, path: request.path });
    };
    this.#channel.subscribe(this.#note);
  }

  close(): void {
    this.#channel.unsubscribe(this.#note);
  }
}
