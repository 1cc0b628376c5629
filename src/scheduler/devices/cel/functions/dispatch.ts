import type { CelMeter } from '../cel-meter.ts';
import type { CelType } from '../cel-types.ts';
import type { CelOverload } from '../declarations.ts';
import { CelList, CelMap, type CelValue, noOverload, typeNameOf } from '../values.ts';
import type { Patterns } from './patterns.ts';

export type CelFunction = (args: readonly CelValue[], meter: CelMeter) => CelValue;

/** What the functions do. */
export interface CelFunctions {
  /** Those that look at their arguments' types by themselves, by the name of the function. */
  readonly byName: ReadonlyMap<string, CelFunction>;
  /** The others, by their forms: one form does the work, if its types fit. */
  readonly byForm: ReadonlyMap<string, CelFunction>;
  readonly declared: ReadonlyMap<string, readonly CelOverload[]>;
  readonly patterns: Patterns;
}

/** The work of a call: of the only form that fits its types, or else of the first whose types the values have. */
export function dispatched(name: string, forms: readonly CelOverload[], functions: CelFunctions): CelFunction {
  const whole = functions.byName.get(name);
  if (whole !== undefined) return whole;
  const candidates = forms.length === 1 ? forms : (functions.declared.get(name) ?? []);
  const ready = candidates.map((form) => ({ takes: form.takes, work: functions.byForm.get(form.id) }));
  return (args, meter) => {
    for (const { takes, work } of ready) {
      if (work !== undefined && takes.length === args.length && takes.every((type, i) => holds(type, args[i] as CelValue))) {
        return work(args, meter);
      }
    }
    return noOverload(name, args);
  };
}

/** Whether a value may be of a type; of lists and maps the first element is looked at. */
function holds(type: CelType, value: CelValue): boolean {
  if (type.kind === 'dyn' || type.kind === 'any' || type.kind === 'parameter') return true;
  if (type.name !== typeNameOf(value)) return false;
  if (value instanceof CelList) {
    const [item] = value.items;
    return item === undefined || holds(type.parameters[0] as CelType, item);
  }
  if (!(value instanceof CelMap)) return true;
  for (const [key, entry] of value.entries()) {
    return holds(type.parameters[0] as CelType, key) && holds(type.parameters[1] as CelType, entry);
  }
  return true;
}
