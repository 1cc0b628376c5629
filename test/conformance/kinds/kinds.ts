import { backoffKind } from '../backoff/index.ts';
import { cacheKind } from '../cache/index.ts';
import { classicKind } from '../classic/index.ts';
import { configKind } from '../config/index.ts';
import { filterScoreKind } from '../filter-score/index.ts';
import { manifestKind } from '../manifest/index.ts';
import { mirrorKind } from '../mirror/index.ts';
import { phaseKind } from '../phase/index.ts';
import { preemptKind } from '../preempt/index.ts';
import { probeKind } from '../probe/index.ts';
import { queueKind } from '../queue/index.ts';
import { refNamesKind, refsKind } from '../refs/index.ts';
import { statusesKind } from '../statuses/index.ts';
import { workersKind } from '../workers/index.ts';
import type { CaseKind } from './case-kind.ts';

/** The kinds of recorded cases beside the status manager's, by the name that a line has in its member `kind`. */
export const kinds: ReadonlyMap<string, CaseKind> = new Map<string, CaseKind>([
  ['manifest', manifestKind],
  ['backoff', backoffKind],
  ['mirror', mirrorKind],
  ['phase', phaseKind],
  ['probe', probeKind],
  ['refs', refsKind],
  ['refNames', refNamesKind],
  ['config', configKind],
  ['workers', workersKind],
  ['statuses', statusesKind],
  ['queue', queueKind],
  ['preempt', preemptKind],
  ['cache', cacheKind],
  ['filterScore', filterScoreKind],
  ['classic', classicKind],
]);
