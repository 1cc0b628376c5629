import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Emitter } from '../../../../src/base/concurrency/emitter.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';

interface Events {
  news: [string, number];
  error: [string];
}

function emitter() {
  const errors: [PropertyKey, unknown][] = [];
  const subject = new Emitter<Events>(['news', 'error'], (event, error) => errors.push([event, error]));
  return { errors, subject, tell: (text: string, n = 0) => subject.emit('news', text, n) };
}

describe('Emitter', () => {
  it('calls its listeners in order, with the arguments, and does not pass them the emitter', () => {
    const { subject, tell } = emitter();
    const seen: unknown[] = [];
    subject.on('news', function (this: unknown, text, n) {
      seen.push(['first', text, n, this]);
    });
    subject.on('news', (text) => seen.push(['second', text]));
    tell('hello', 3);
    expect(seen).toEqual([
      ['first', 'hello', 3, undefined],
      ['second', 'hello'],
    ]);
  });

  it('counts its listeners', () => {
    const { subject } = emitter();
    const listener = (): void => {};
    expect(subject.listenerCount('news')).toBe(0);
    subject.on('news', listener);
    expect(subject.listenerCount('news')).toBe(1);
    subject.off('news', listener);
    expect(subject.listenerCount('news')).toBe(0);
  });

  it('reports a listener that throws, and calls the others', () => {
    const { errors, subject, tell } = emitter();
    const boom = new Error('boom');
    let called = 0;
    subject.on('news', () => {
      throw boom;
    });
    subject.on('news', () => {
      called += 1;
    });
    tell('hello');
    expect([called, errors]).toEqual([1, [['news', boom]]]);
  });

  it.each([
    ['promise', (error: Error) => Promise.reject(error)],
    ['thenable', (error: Error) => Object.fromEntries([['then', (_: unknown, reject: (error: Error) => void) => reject(error)]])],
  ])('reports a listener whose %s rejects', async (_, reject) => {
    const { errors, subject, tell } = emitter();
    const boom = new Error('boom');
    subject.on('news', (() => reject(boom)) as () => void);
    expect(await unhandledRejectionsOf(() => tell('hello'))).toEqual([]);
    expect(errors).toEqual([['news', boom]]);
  });

  it('calls a once listener once, even when that listener emits the event', () => {
    const { subject, tell } = emitter();
    let calls = 0;
    subject.once('news', () => {
      calls += 1;
      tell('again');
    });
    tell('hello');
    tell('hello');
    expect(calls).toBe(1);
  });

  it('calls the listeners of the moment of emit, even when one adds or removes others', () => {
    const { subject, tell } = emitter();
    const seen: string[] = [];
    const second = (): void => void seen.push('second');
    subject.on('news', () => {
      seen.push('first');
      subject.off('news', second);
      subject.once('news', () => seen.push('third'));
    });
    subject.on('news', second);
    tell('one');
    expect(seen).toEqual(['first', 'second']);
  });

  it('tells every listener of events in the order in which they came about, those that a listener brings about too', () => {
    const { subject } = emitter();
    const seen: unknown[] = [];
    subject.on('news', (text, n) => {
      if (n < 2) {
        subject.emit('error', `after ${text}`);
        subject.emit('news', `${text}'`, n + 1);
        expect(subject.isTelling).toBe(true);
      }
    });
    subject.on('news', (text) => seen.push(text));
    subject.on('error', (text) => seen.push(text));
    subject.emit('news', 'a', 0);
    expect([seen, subject.isTelling]).toEqual([['a', 'after a', "a'", "after a'", "a''"], false]);
  });

  it('does not hold the event loop for listeners that bring about events without end', async () => {
    const { subject, tell, errors } = emitter();
    let told = 0;
    const again = (): void => {
      told += 1;
      tell('again');
    };
    subject.on('news', again);
    tell('first');
    expect(told).toBe(1_001);
    await settle(1);
    expect(told).toBeGreaterThan(1_001);
    subject.off('news', again);
    await settle(2);
    expect([errors, subject.isTelling]).toEqual([[], false]);
  });

  it('goes on where a failure of a listener cannot even be reported', () => {
    const subject = new Emitter<{ news: [] }>(['news'], () => {
      throw new Error('no report');
    });
    let told = 0;
    subject.on('news', () => {
      throw new Error('boom');
    });
    subject.on('news', () => void told++);
    for (let n = 0; n < 3; n += 1) subject.emit('news');
    expect([told, subject.isTelling]).toEqual([3, false]);
  });

  it('warns of no leak, however many listeners there are, unless it was told to', async () => {
    const { subject } = emitter();
    const warnings: string[] = [];
    const listen = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', listen);
    for (let n = 0; n < 100; n += 1) subject.on('news', () => {});
    await settle();
    expect(warnings).toEqual([]);
    subject.setMaxListeners(100);
    subject.on('news', () => {});
    await settle();
    process.off('warning', listen);
    expect(warnings).toEqual([expect.stringContaining('101 news listeners')]);
  });

  it.each([-1, 1.5, Number.NaN, '10', undefined])('refuses %s as the most listeners', (most) => {
    const { subject } = emitter();
    expect(() => subject.setMaxListeners(most as number)).toThrow('Expected `most` to be a whole number, 0 or more');
  });

  it('has no special error event', () => {
    const { errors, subject } = emitter();
    expect(() => subject.emit('error', 'no listener')).not.toThrow();
    expect(errors).toEqual([]);
  });

  it.each(['on', 'once', 'off'] as const)('refuses a misspelt event and a listener that is no function: %s', (method) => {
    const subject = new Emitter<{ news: [] }>(['news'], () => {});
    expect(() => subject[method]('nwes' as never, () => {})).toThrow('Expected `event` to be one of news, got "nwes" (string)');
    expect(() => subject[method]('news', 5 as never)).toThrow('Expected `listener` to be a function, got 5 (number)');
  });

  it('works with Node’s own `once`, which listens for errors too', async () => {
    const subject = new Emitter<{ news: [string] }>(['news'], () => {});
    const listenable = Object.assign(Object.create(EventEmitter.prototype) as EventEmitter, {
      on: subject.on.bind(subject),
      once: subject.once.bind(subject),
      removeListener: subject.off.bind(subject),
    });
    const told = once(listenable, 'news');
    subject.emit('news', 'hello');
    expect(await told).toEqual(['hello']);
    await settle();
    expect(subject.listenerCount('news')).toBe(0);
  });
});
