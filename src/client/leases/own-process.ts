import { hostname } from 'node:os';
import { formatTime } from '../../api/json/time.ts';
import type { Clock } from '../../base/clock.ts';

/** This process, as an operator can find it: `process 12 on host-1, started 2026-01-31T12:00:00Z`. */
export function ownProcess(clock: Clock): string {
  const startedAt = formatTime(clock.now() - process.uptime() * 1000);
  return `process ${process.pid} on ${hostname()}, started ${startedAt}`;
}
