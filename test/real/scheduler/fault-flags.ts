import { parseArgs } from 'node:util';

/** What a run with faults is told on the command line. */
export interface FaultFlags<How extends string> {
  readonly nodes: number;
  readonly pods: number;
  readonly kills: number;
  readonly pauses: number;
  readonly seed: number;
  readonly broken: How | undefined;
}

const options = {
  nodes: { type: 'string', default: '10' },
  pods: { type: 'string', default: '60' },
  kills: { type: 'string', default: '2' },
  pauses: { type: 'string', default: '1' },
  seed: { type: 'string' },
  broken: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The flags of this process, of which `broken` must be one of `faults`; undefined where somebody asks for help. Throws Error for others. */
export function faultFlags<How extends string>(faults: readonly How[]): FaultFlags<How> | undefined {
  const { values } = parseArgs({ options });
  if (values.help) return undefined;
  const number = (name: 'nodes' | 'pods' | 'kills' | 'pauses' | 'seed', text: string): number => {
    const value = Number(text);
    if (text === '' || !Number.isInteger(value) || value < 0) throw new Error(`--${name} must be a whole number, got "${text}"`);
    return value;
  };
  const broken = faults.find((one) => one === values.broken);
  if (values.broken !== broken) throw new Error(`--broken must be one of ${faults.join(', ')}, got "${values.broken}"`);
  return {
    nodes: number('nodes', values.nodes),
    pods: number('pods', values.pods),
    kills: number('kills', values.kills),
    pauses: number('pauses', values.pauses),
    seed: number('seed', values.seed ?? String(Math.floor(Math.random() * 1_000_000))),
    broken,
  };
}

/** Writes each line with the seconds since now: a machine that stands still is told from a fault. */
export function logWithSeconds(): (line: string) => void {
  const began = performance.now();
  return (line) => console.error(`${((performance.now() - began) / 1000).toFixed(1)} s: ${line}`);
}
