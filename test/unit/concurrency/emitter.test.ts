import { describe, expect, it } from 'vitest';
import { SafeEmitter } from '../../../src/concurrency/safe-emitter.ts';
import { settle } from '../../../src/testing/fakes/fake-clock.ts';

interface Events {
  news: [string, number];
  error: [string];
}

class Emitter extends SafeEmitter<Events> {
  tell(text: string, n = 0): boolean {
    return this.notify('news', text, n);
  }
  tellError(text: string): boolean {
    return this.notify('error', text);
  }
}

function emitter() {
  const errors: [PropertyKey, unknown][] = [];
  return { errors, subject: new Emitter((event, error) => errors.push([event, error])) };
}

describe('SafeEmitter', () => {
  it('calls its listeners in their order, with the arguments and itself as this', () => {
    const { subject } = emitter();
    const seen: unknown[] = [];
    subject.on('news', function (this: unknown, text, n) {
      seen.push(['first', text, n, this === subject]);
    });
    subject.on('news', (text) => seen.push(['second', text]));
    subject.prependListener('news', () => seen.push('zeroth'));
    expect(subject.tell('hello', 3)).toBe(true);
    expect(seen).toEqual(['zeroth', ['first', 'hello', 3, true], ['second', 'hello']]);
  });

  it('says when nobody listens', () => {
    expect(emitter().subject.tell('hello')).toBe(false);
  });

  it('reports a listener that throws, and calls the others', () => {
    const { errors, subject } = emitter();
    const boom = new Error('boom');
    let called = 0;
    subject.on('news', () => {
      throw boom;
    });
    subject.on('news', () => {
      called += 1;
    });
    subject.tell('hello');
    expect([called, errors]).toEqual([1, [['news', boom]]]);
  });

  it('reports a listener whose promise rejects', async () => {
    const { errors, subject } = emitter();
    const boom = new Error('boom');
    subject.on('news', async () => {
      throw boom;
    });
    subject.tell('hello');
    await settle();
    expect(errors).toEqual([['news', boom]]);
  });

  it('calls a once listener once, also when it tells itself', () => {
    const { subject } = emitter();
    let calls = 0;
    subject.once('news', () => {
      calls += 1;
      subject.tell('again');
    });
    subject.tell('hello');
    subject.tell('hello');
    expect(calls).toBe(1);
  });

  it('calls those who listened when it began, whoever comes and goes meanwhile', () => {
    const { subject } = emitter();
    const seen: string[] = [];
    const second = (): void => void seen.push('second');
    subject.on('news', () => {
      seen.push('first');
      subject.off('news', second);
      subject.once('news', () => seen.push('third'));
    });
    subject.on('news', second);
    subject.tell('one');
    expect(seen).toEqual(['first', 'second']);
  });

  it('has no special error event', () => {
    const { errors, subject } = emitter();
    expect(subject.tellError('nobody listens')).toBe(false);
    expect(errors).toEqual([]);
  });
});
