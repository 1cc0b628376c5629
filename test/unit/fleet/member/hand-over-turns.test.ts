import { describe, expect, it } from 'vitest';
import { HandOverTurns, type SeenShard } from '../../../../src/fleet/member/hand-over-turns.ts';
import { FakeClock } from '../../../../src/testing.ts';

interface Given extends Partial<SeenShard> {
  /** The member that is to own the shard. */
  readonly to?: string;
}

class Turns {
  readonly clock = new FakeClock();
  readonly turns: HandOverTurns;

  constructor(id = 'm') {
    this.turns = new HandOverTurns(id);
  }

  look(shards: readonly Given[], leaving: readonly string[] = []): this {
    const seen = shards.map(({ isHandingOver = false, holder, isUnsettled = false }) => ({ isHandingOver, holder, isUnsettled }));
    this.turns.look({ now: this.now, shards: seen, placedOn: (shard) => shards[shard]?.to, leaving: new Set(leaving) });
    return this;
  }

  get now(): number {
    return this.clock.elapsed();
  }

  /** How long until a shard may be handed over to this member; 0 for at once. */
  waitFor(receiver: string | undefined): number {
    return Math.max(0, this.turns.turnAt(receiver) - this.now);
  }
}

const mine: Given = { holder: 'm_p', to: 'r' };

describe('the turn of a shard comes', () => {
  it('at once where its next owner is at work on nothing', () => {
    const one = new Turns().look([mine, mine, { holder: 'r_p', to: 'r' }]);
    expect([one.waitFor('r'), one.turns.nextTurnAt]).toEqual([0, Number.POSITIVE_INFINITY]);
  });

  it('not while another one goes there from here, whatever others do', () => {
    const one = new Turns().look([{ ...mine, isHandingOver: true }, mine, { holder: 'm_p', to: 's' }]);
    expect([one.waitFor('r'), one.waitFor('s')]).toEqual([Number.POSITIVE_INFINITY, 0]);
    one.turns.begun('s');
    expect(one.waitFor('s')).toBe(Number.POSITIVE_INFINITY);
  });

  it('five seconds after one was given up that its next owner does not take', async () => {
    const one = new Turns();
    const givenUp = { holder: undefined, isUnsettled: true, to: 'r' };
    one.look([givenUp, mine]);
    expect([one.waitFor('r'), one.turns.nextTurnAt - one.now]).toEqual([5000, 5000]);
    await one.clock.advance(5000);
    expect(one.look([givenUp, mine]).waitFor('r')).toBe(0);
  });

  it('five seconds after its next owner took one whose nodes do not run yet, whoever was to have that', async () => {
    const one = new Turns();
    const starting = { holder: 'r_p', isUnsettled: true, to: 's' };
    one.look([starting, mine]);
    expect([one.waitFor('r'), one.waitFor('s')]).toEqual([5000, 0]);
    await one.clock.advance(2000);
    expect(one.look([{ holder: 'r_p', to: 's' }, mine]).waitFor('r')).toBe(0);
  });

  it('half a second after the one before, for each other member that has shards for the same one and comes first', async () => {
    const one = new Turns();
    const others = [
      { holder: 'a_p', to: 'r' },
      { holder: 'b_p', to: 'r' },
      { holder: 'z_p', to: 'r' },
    ];
    one.look([mine, ...others]);
    expect([one.waitFor('r'), one.turns.nextTurnAt - one.now]).toEqual([1000, 1000]);
    await one.clock.advance(700);
    expect(one.look([mine, ...others]).waitFor('r')).toBe(300);
    one.look([mine, ...others, { holder: 'r_p', isUnsettled: true, to: 'r' }]);
    await one.clock.advance(400);
    expect(one.look([mine, ...others]).waitFor('r')).toBe(1000);
    expect(one.look([mine]).waitFor('r')).toBe(0);
  });

  it('first to members that leave, by their ids, and then to the others', () => {
    const shards = ['a', 'm', 'x', 'y'].map((id) => ({ holder: `${id}_p`, to: 'r' }));
    const wait = (id: string, ...leaving: string[]): number => new Turns(id).look(shards, leaving).waitFor('r');
    expect(['a', 'm', 'x', 'y'].map((id) => wait(id, 'x', 'y'))).toEqual([1000, 1500, 0, 500]);
  });

  it('at once where nobody is to have it, or this member itself', () => {
    const one = new Turns().look([
      { holder: 'm_p', to: 'm' },
      { holder: undefined, isUnsettled: true, to: 'm' },
      { holder: 'm_p', isHandingOver: true },
    ]);
    expect([one.waitFor(undefined), one.waitFor('m'), one.turns.nextTurnAt]).toEqual([0, 0, Number.POSITIVE_INFINITY]);
  });

  it('in line from when somebody has a shard for that one, not from before, also where it had gone meanwhile', async () => {
    const own = { holder: 'r_p', to: 'r' };
    const given = [own, mine, { holder: 'a_p', to: 'r' }];
    const one = new Turns().look([own]);
    await one.clock.advance(1000);
    expect(one.look(given).waitFor('r')).toBe(500);
    await one.clock.advance(300);
    expect(one.look(given).waitFor('r')).toBe(200);
    one.look([]);
    await one.clock.advance(1000);
    expect(one.look(given).waitFor('r')).toBe(500);
  });

  it('at once where that one has its own shards alone', () => {
    const one = new Turns().look([
      { holder: 'a_p', to: 'a' },
      { holder: 'm_p', to: 'a' },
    ]);
    expect(one.waitFor('a')).toBe(0);
  });

  it('not for others: a member that has nothing for that one is not woken', () => {
    const one = new Turns().look([
      { holder: 'a_p', to: 'r' },
      { holder: 'b_p', to: 'r' },
      { holder: undefined, to: 'r', isUnsettled: true },
    ]);
    expect(one.turns.nextTurnAt).toBe(Number.POSITIVE_INFINITY);
  });

  it('five seconds after a shard was given up, and five more after it was taken, or is to go to another one', async () => {
    const one = new Turns().look([mine, { to: 'r', isUnsettled: true }]);
    expect(one.waitFor('r')).toBe(5000);
    await one.clock.advance(4000);
    expect(one.look([mine, { holder: 'r_p', to: 'r', isUnsettled: true }]).waitFor('r')).toBe(5000);
    const other = new Turns().look([
      { holder: 'm_p', to: 's' },
      { to: 'r', isUnsettled: true },
    ]);
    await other.clock.advance(4000);
    expect(
      other
        .look([
          { holder: 'm_p', to: 's' },
          { to: 's', isUnsettled: true },
        ])
        .waitFor('s'),
    ).toBe(5000);
  });
});
