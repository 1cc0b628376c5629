import type { VNode } from 'preact';
import { age, duration, isoTime, timeOfDay } from '../text/format.ts';

export type Fact = readonly [name: string, value: string | VNode];

/** Names and values, side by side. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): VNode | null {
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A time of day, and how far it is from now. */
export function When({ at, now }: { readonly at: number; readonly now: number }): VNode {
  const away = at > now ? `in ${duration(at - now)}` : age(at, now);
  return (
    <span>
      <time dateTime={isoTime(at)}>{timeOfDay(at)}</time>
      <span class="muted"> ({at > now || away === 'now' ? away : `${away} ago`})</span>
    </span>
  );
}

const isTime = /^[+-]?\d{4,6}-\d\d-\d\dT[\d:.]+Z$/;

/** True for a value that is a time. */
export function holdsTime(value: string): boolean {
  return isTime.test(value) && !Number.isNaN(Date.parse(value));
}

/** Lines of the server as facts: names in words, times as times. */
export function factsOfLines(lines: readonly (readonly [string, string])[], now: number): Fact[] {
  return lines.map(([name, value]) => [inWords(name), holdsTime(value) ? <When at={Date.parse(value)} now={now} /> : value]);
}

/** `lease.lastRenewAt` is `lease: last renew at`. */
export function inWords(name: string): string {
  return name.replaceAll('.', ': ').replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
}
