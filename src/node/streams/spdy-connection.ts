import { errorText } from '../../base/errors.ts';
import type { ByteLink } from './byte-links.ts';
import * as frames from './spdy-frames.ts';
import { EmptyHeaders, HeaderReader, type SpdyHeaders } from './spdy-headers.ts';
import { SpdyStream } from './spdy-stream.ts';
import { ReadGate, type Sent } from './stream-flows.ts';

const { controlType, finFlag, SpdyFault } = frames;
/** So many bytes of answers to frames may wait for a client that does not read them, before it is not read any more. */
const mostAnswerBytes = 64 * 1024;

export interface SpdyOptions {
  readonly link: ByteLink;
  /** So many streams may be open at once; further ones are refused. */
  readonly mostStreams: number;
  /** What to do with a stream once the client knows that it is accepted; undefined: it is refused. */
  readonly offer: (stream: SpdyStream) => (() => void) | undefined;
  /** The client has left, or broke the protocol. Called once. */
  readonly onGone: (why: string) => void;
}

/**
 * The server's side of a SPDY/3.1 connection, as far as Kubernetes uses it: only the client opens streams. Windows are neither kept nor
 * expected, because no client and no server of Kubernetes has any: a slow reader holds the whole connection, by TCP.
 */
export class SpdyConnection {
  readonly gate: ReadGate;
  readonly #options: SpdyOptions;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #headers = new HeaderReader();
  readonly #answers = new EmptyHeaders();
  #lastStreamID = 0;
  #answerBytes = 0;
  #isGone = false;
  #isClosing = false;

  constructor(options: SpdyOptions) {
    this.#options = options;
    this.gate = new ReadGate(options.link);
  }

  /** Begins to read. */
  start(): void {
    const onControl = (frame: frames.ControlFrame): void => this.#onControl(frame);
    const onData = (id: number, piece: Buffer, isEnd: boolean): void => this.#onData(id, piece, isEnd);
    const reader = new frames.FrameReader({ onControl, onData });
    this.#options.link.listen({
      onData: (bytes) => {
        if (this.#isGone) return;
        try {
          reader.read(bytes);
        } catch (error) {
          this.#write(frames.goAwayFrame(this.#lastStreamID, frames.goAwayStatus.protocolError));
          this.leave(errorText(error));
        }
      },
      onEnd: () => this.leave('the client is gone'),
    });
  }

  /** Says that nothing more comes, and closes this side. */
  finish(): void {
    if (this.#isGone || this.#isClosing) return;
    this.#isClosing = true;
    this.#write(frames.goAwayFrame(this.#lastStreamID, frames.goAwayStatus.ok));
    this.#options.link.end();
  }

  /** From now on what the client sends is dropped. */
  discard(): void {
    for (const stream of this.#streams.values()) stream.discard();
  }

  /** The client is gone: nothing more comes for any stream. A second call does nothing. */
  leave(why: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    for (const stream of this.#streams.values()) stream.noteReset();
    this.#streams.clear();
    this.#options.onGone(why);
  }

  #onControl({ type, flags, payload }: frames.ControlFrame): void {
    if (this.#isGone) return;
    const isFin = (flags & finFlag) !== 0;
    if (type === controlType.synStream) this.#onSynStream(payload, isFin);
    else if (type === controlType.rstStream) this.#onReset(numberOf(payload));
    else if (type === controlType.ping) this.#onPing(numberOf(payload));
    else if (type === controlType.goAway) this.leave('the client has left');
    else if (type === controlType.headers || type === controlType.synReply) {
      const id = numberOf(payload);
      // they say nothing that counts, but what comes later is compressed with them
      this.#headers.read(payload.subarray(4));
      if (isFin) this.#streams.get(id)?.noteEnd();
    }
  }

  #onSynStream(payload: Buffer, isFin: boolean): void {
    if (payload.length < 10) throw new SpdyFault('a frame that opens a stream is too short');
    const id = numberOf(payload);
    if (id % 2 !== 1 || id <= this.#lastStreamID) throw new SpdyFault(`the client must not open stream ${id} now`);
    this.#lastStreamID = id;
    const stream = this.#newStream(id, this.#headers.read(payload.subarray(10)));
    const { mostStreams, offer } = this.#options;
    const begin = this.#isClosing || this.#streams.size >= mostStreams ? undefined : offer(stream);
    if (begin === undefined) {
      this.#answer(frames.rstStreamFrame(id, frames.resetStatus.refused));
      return;
    }
    this.#streams.set(id, stream);
    this.#answer(frames.synReplyFrame(id, this.#answers.next()));
    begin();
    if (isFin) stream.noteEnd();
  }

  #newStream(id: number, headers: SpdyHeaders): SpdyStream {
    return new SpdyStream(id, headers, {
      gate: this.gate,
      write: (frame, sent) => this.#write(frame, sent),
      forget: () => void this.#streams.delete(id),
    });
  }

  #onReset(id: number): void {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    stream?.noteReset();
  }

  #onPing(id: number): void {
    // an even one would answer a ping of this server, which sends none
    if (id % 2 === 1) this.#answer(frames.pingFrame(id));
  }

  #onData(id: number, piece: Buffer, isEnd: boolean): void {
    // for a stream that is closed or was refused, data may still be on its way
    if (this.#isGone) return;
    const stream = this.#streams.get(id);
    stream?.receive(piece);
    if (isEnd) stream?.noteEnd();
  }

  /** Answers a frame. A client that sends without reading the answers has to wait. */
  #answer(frame: Buffer): void {
    this.#answerBytes += frame.length;
    if (this.#answerBytes > mostAnswerBytes) this.gate.block(this);
    this.#write(frame, () => {
      this.#answerBytes -= frame.length;
      if (this.#answerBytes <= mostAnswerBytes) this.gate.unblock(this);
    });
  }

  #write(frame: Buffer, sent?: Sent): void {
    if (this.#isGone) sent?.(new Error('the client is gone'));
    else this.#options.link.write(frame, sent);
  }
}

function numberOf(payload: Buffer): number {
  if (payload.length < 4) throw new SpdyFault('a control frame is too short');
  return payload.readUInt32BE(0) & 0x7fff_ffff;
}
