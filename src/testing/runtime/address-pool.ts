import { invalidArgument } from '../../base/errors.ts';

/** The IPv4 addresses of a range, such as `10.0.0.0/24`. The first two and the last one are never given. */
export class AddressPool {
  readonly #base: number;
  readonly #size: number;
  #next = 2;
  readonly #given = new Set<string>();

  constructor(range: string) {
    const { base, size } = parseRange(range);
    this.#base = base;
    this.#size = size;
  }

  /** An address that nobody has; undefined when there is none. Addresses are given in turn, so that one is not used again soon. */
  take(): string | undefined {
    for (let tried = 2; tried < this.#size - 1; tried += 1) {
      const address = textOf(this.#base + this.#next);
      this.#next = this.#next + 1 < this.#size - 1 ? this.#next + 1 : 2;
      if (this.#given.has(address)) continue;
      this.#given.add(address);
      return address;
    }
    return undefined;
  }

  giveBack(address: string): void {
    this.#given.delete(address);
  }
}

function parseRange(range: string): { readonly base: number; readonly size: number } {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(range);
  const [, ...numbers] = (match ?? []).map(Number);
  const [a = 256, b = 256, c = 256, d = 256, bits = 0] = numbers;
  if (Math.max(a, b, c, d) > 255 || bits < 8 || bits > 29) {
    throw invalidArgument('podCIDR', 'a range of IPv4 addresses such as 10.0.0.0/24, from /8 to /29', range);
  }
  const size = 2 ** (32 - bits);
  const address = ((a * 256 + b) * 256 + c) * 256 + d;
  return { base: address - (address % size), size };
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}
