import { styleText } from 'node:util';
import { createLogUpdate } from 'log-update';
import type { Paint } from './view.ts';

/** What is shown of a run at this moment. */
export interface Picture {
  /** On a terminal: lines of at most so many columns. */
  readonly view: (columns: number) => string;
  /** Elsewhere: one line. */
  readonly line: () => string;
}

/** The output of a run. */
export interface Screen {
  /** True for a terminal: somebody looks on, and can end the run. */
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** Shows the picture, again and again, until `end`. */
  begin(picture: Picture): void;
  end(): void;
  /** Prints a line that stays. */
  print(line: string): void;
}

/** A live view on a terminal, otherwise one line per second. */
export function openScreen(stream: NodeJS.WriteStream): Screen {
  // styleText knows NO_COLOR, FORCE_COLOR and streams that are no terminal
  const paint: Paint = (style, text) => (text === '' ? '' : styleText(style, text, { stream }));
  const print = (line: string): void => {
    stream.write(`${line}\n`);
  };
  return stream.isTTY ? liveScreen(stream, paint, print) : plainScreen(paint, print);
}

function liveScreen(stream: NodeJS.WriteStream, paint: Paint, print: (line: string) => void): Screen {
  // log-update hides the cursor, and puts it back at `done` and at the end of the process
  const log = createLogUpdate(stream);
  const timers = repeater(100);
  return {
    isTerminal: true,
    paint,
    print,
    // one column stays free, so that no terminal wraps a full line; a terminal of unknown size reports 0 columns
    begin: ({ view }) => timers.begin(() => log(view(Math.max(1, (stream.columns || 80) - 1)))),
    end: () => {
      timers.end();
      log.done();
    },
  };
}

function plainScreen(paint: Paint, print: (line: string) => void): Screen {
  const timers = repeater(1000);
  return {
    isTerminal: false,
    paint,
    print,
    begin: ({ line }) => timers.begin(() => print(line())),
    end: () => timers.end(),
  };
}

function repeater(periodMs: number): { begin(callback: () => void): void; end(): void } {
  let timer: NodeJS.Timeout | undefined;
  let show = (): void => {};
  return {
    begin: (callback) => {
      show = callback;
      timer = setInterval(callback, periodMs);
    },
    end: () => {
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      // the last state stays on the screen
      show();
    },
  };
}
