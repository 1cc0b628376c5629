import type { CelOverload } from '../declarations.ts';
import { basicFunctions, optionalFunctions } from './basics.ts';
import { conversionFunctions } from './conversions.ts';
import type { CelFunctions } from './dispatch.ts';
import { listFunctions, untypedListFunctions } from './lists.ts';
import { Patterns } from './patterns.ts';
import { quantityFunctions } from './quantities.ts';
import { patternFunctions, textFunctions } from './texts.ts';
import { versionFunctions } from './versions.ts';

/** Everything that expressions of device selectors can call. */
export function allCelFunctions(declared: ReadonlyMap<string, readonly CelOverload[]>): CelFunctions {
  const patterns = new Patterns();
  const byName = { ...basicFunctions, ...untypedListFunctions, ...patternFunctions(patterns) };
  const byForm = {
    ...{ ...optionalFunctions, ...conversionFunctions, ...textFunctions },
    ...{ ...listFunctions, ...quantityFunctions, ...versionFunctions },
  };
  return { byName: new Map(Object.entries(byName)), byForm: new Map(Object.entries(byForm)), declared, patterns };
}
