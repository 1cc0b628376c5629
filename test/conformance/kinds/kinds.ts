import { backoffKind } from '../backoff/backoff-kind.ts';
import { cacheKind } from '../cache/cache-kind.ts';
import { claimsKind } from '../claims/claims-kind.ts';
import { classicKind } from '../classic/classic-kind.ts';
import { volumesClassicKind } from '../classic/volumes-classic-kind.ts';
import { configKind } from '../config/config-kind.ts';
import { deviceSelectorsKind } from '../device-selectors/device-selectors-kind.ts';
import { devicesKind } from '../devices/devices-kind.ts';
import { evictionKind } from '../eviction/eviction-kind.ts';
import { extendedClaimsKind } from '../extended-claims/extended-claims-kind.ts';
import { extendedKind } from '../extender/extended-kind.ts';
import { extenderKind } from '../extender/extender-kind.ts';
import { filterScoreKind } from '../filter-score/filter-score-kind.ts';
import { manifestKind } from '../manifest/manifest-kind.ts';
import { mirrorKind } from '../mirror/mirror-kind.ts';
import { phaseKind } from '../phase/phase-kind.ts';
import { preemptKind } from '../preempt/preempt-kind.ts';
import { probeKind } from '../probe/probe-kind.ts';
import { queueKind } from '../queue/queue-kind.ts';
import { refNamesKind } from '../refs/ref-names.ts';
import { refsKind } from '../refs/refs-kind.ts';
import { schedulerConfigKind } from '../scheduler-config/scheduler-config-kind.ts';
import { statusesKind } from '../statuses/statuses-kind.ts';
import { volumeHintsKind } from '../volume-hints/volume-hints-kind.ts';
import { volumesKind } from '../volumes/volumes-kind.ts';
import { workersKind } from '../workers/workers-kind.ts';
import type { ReplayedKind } from './replayed-kind.ts';

/** The kinds of recorded cases beside the status manager's, by the name that a line has in its member `kind`. */
export const kinds: ReadonlyMap<string, ReplayedKind> = new Map<string, ReplayedKind>([
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
  ['volumes', volumesKind],
  ['volumeHints', volumeHintsKind],
  ['devices', devicesKind],
  ['claims', claimsKind],
  ['extendedClaims', extendedClaimsKind],
  ['schedulerConfig', schedulerConfigKind],
  ['deviceSelectors', deviceSelectorsKind],
  ['classic', classicKind],
  ['volumesClassic', volumesClassicKind],
  ['eviction', evictionKind],
  ['extended', extendedKind],
  ['extender', extenderKind],
]);
