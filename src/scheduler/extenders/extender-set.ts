import type { SteadyClock } from '../../base/clock.ts';
import { Extender } from './extender.ts';
import { type CheckedExtender, type ExtenderOptions, extendersOption, ignoredResourcesOf } from './extender-options.ts';
import { ExtenderReports } from './extender-reports.ts';
import { Extenders, type ExtendersOptions } from './extenders.ts';

/** All extenders of a scheduler: those of every profile, and those of one alone. Whoever makes it closes it. */
export class ExtenderSet {
  /** The resources that no plugin of a profile is to look at. */
  readonly ignoredResources: readonly string[];
  /** What they do at a moment. */
  readonly reports = new ExtenderReports();
  readonly #options: ExtendersOptions;
  readonly #ofEveryProfile: readonly Extender[];
  readonly #all: Extender[];

  /** Throws ERR_INVALID_OPTION for a TLS file that cannot be read. */
  constructor(ofEveryProfile: readonly CheckedExtender[], options: Omit<ExtendersOptions, 'reports'>) {
    this.#options = { ...options, reports: this.reports };
    this.#ofEveryProfile = ofEveryProfile.map((one) => makeExtender(one, options.clock));
    this.#all = [...this.#ofEveryProfile];
    this.ignoredResources = ignoredResourcesOf(ofEveryProfile);
  }

  /** Those of every profile, and these. Throws ERR_INVALID_OPTION. */
  with(own: readonly ExtenderOptions[]): Extenders {
    const made = extendersOption('extenders of a profile', own).map((one) => makeExtender(one, this.#options.clock));
    this.#all.push(...made);
    return new Extenders([...this.#ofEveryProfile, ...made], this.#options);
  }

  /** Ends every socket. Never rejects. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#all.map((extender) => extender.close()));
  }
}

function makeExtender(options: CheckedExtender, clock: SteadyClock): Extender {
  return new Extender(options, clock);
}
