import { afterAll, afterEach, beforeAll } from 'vitest';

// A part without the option `logger` prints its warnings and errors. A test that makes one print says `logger: null`, or takes the
// lines and looks at them.

const ofAPart = /^pod-status-manager (?:warn|error): /;
const printed: string[] = [];
let restore = (): void => {};

beforeAll(() => {
  const { warn, error } = console;
  const noting =
    (print: typeof warn) =>
    (...args: unknown[]): void => {
      if (typeof args[0] === 'string' && ofAPart.test(args[0])) printed.push(args[0]);
      else print(...args);
    };
  console.warn = noting(warn);
  console.error = noting(error);
  restore = () => Object.assign(console, { warn, error });
});

function refuseLines(): void {
  const lines = printed.splice(0);
  if (lines.length > 0) throw new Error(`parts without a logger have printed:\n${[...new Set(lines)].slice(0, 10).join('\n')}`);
}

afterEach(refuseLines);
afterAll(() => {
  restore();
  refuseLines();
});
