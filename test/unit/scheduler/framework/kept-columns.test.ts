import { describe, expect, it } from 'vitest';
import { FilterColumn, ScoreColumn } from '../../../../src/scheduler/framework/kept-columns.ts';
import type { PluginRejection } from '../../../../src/scheduler/framework/plugin.ts';

function rejection(...reasons: readonly string[]): PluginRejection {
  return { plugin: 'Test', code: 'Unschedulable', reasons };
}

describe('FilterColumn', () => {
  it('knows a verdict for one state of a node and one list of nodes', () => {
    const column = new FilterColumn();
    column.begin(1, 3);
    column.agree(0, 7);
    column.reject(1, 7, { filter: 2, rejection: rejection('full') });
    expect([column.verdict(0, 7), column.verdict(0, 8), column.verdict(2, 7)]).toEqual([0, -1, -1]);
    const number = column.verdict(1, 7);
    expect(column.found(number)).toEqual({ filter: 2, rejection: rejection('full') });
    column.begin(1, 3);
    expect(column.verdict(0, 7)).toBe(0);
    column.begin(2, 3);
    expect([column.verdict(0, 7), column.verdict(1, 7)]).toEqual([-1, -1]);
  });

  it('keeps equal rejections once, and those of two filters apart', () => {
    const column = new FilterColumn();
    column.begin(1, 2000);
    for (let place = 0; place < 2000; place += 1) column.reject(place, 1, { filter: place % 2, rejection: rejection('full') });
    expect(column.verdict(1998, 1)).toBe(column.verdict(0, 1));
    expect(column.found(column.verdict(1999, 1))?.filter).toBe(1);
  });

  it('keeps so many different rejections alone, and none with many or long reasons', () => {
    const column = new FilterColumn();
    column.begin(1, 1000);
    for (let place = 0; place < 300; place += 1) column.reject(place, 1, { filter: 0, rejection: rejection(`reason ${place}`) });
    expect([column.verdict(254, 1), column.verdict(255, 1)]).toEqual([255, -1]);
    column.begin(2, 1000);
    column.reject(0, 1, { filter: 0, rejection: rejection(...Array.from({ length: 9 }, (_, index) => `reason ${index}`)) });
    column.reject(1, 1, { filter: 0, rejection: rejection('x'.repeat(257)) });
    column.reject(2, 1, { filter: 0, rejection: rejection('x'.repeat(256)) });
    column.reject(3, 1, { filter: 0, rejection: rejection(...([null] as unknown as readonly string[])) });
    expect([0, 1, 2, 3].map((place) => column.verdict(place, 1))).toEqual([-1, -1, 1, -1]);
  });

  it('keeps what a plugin said, also where the plugin writes into its list later', () => {
    const column = new FilterColumn();
    column.begin(1, 1);
    const reasons = ['full of x'];
    column.reject(0, 1, { filter: 0, rejection: rejection('another') });
    column.reject(0, 1, { filter: 0, rejection: { plugin: 'Test', code: 'Unschedulable', reasons } });
    reasons[0] = 'full of y';
    const kept = column.found(column.verdict(0, 1))?.rejection;
    expect(kept).toEqual(rejection('full of x'));
    expect(Object.isFrozen(kept?.reasons)).toBe(true);
  });

  it('begins anew for the next pod once it had no number for as many rejections as it has places', () => {
    const column = new FilterColumn();
    const rejectAll = (what: string): void => {
      column.begin(1, 1024);
      for (let place = 0; place < 1024; place += 1)
        column.reject(place, 1, { filter: 0, rejection: rejection(`${what} ${place}`) });
    };
    rejectAll('early');
    column.begin(1, 1024);
    expect([column.verdict(254, 1), column.verdict(255, 1)]).toEqual([255, -1]);
    rejectAll('late');
    rejectAll('later');
    expect(column.found(column.verdict(0, 1))?.rejection).toEqual(rejection('later 0'));
    expect(column.verdict(255, 1)).toBe(-1);
  });
});

describe('ScoreColumn', () => {
  it('knows a score for one state of a node and one list of nodes, also once there are more nodes', () => {
    const column = new ScoreColumn();
    column.begin(1, 2);
    column.set(1, 5, 42);
    expect([column.get(1, 5), column.get(1, 6), column.get(0, 5)]).toEqual([42, Number.NaN, Number.NaN]);
    column.begin(2, 5000);
    expect(column.get(1, 5)).toBeNaN();
    column.set(4999, 1, 7);
    expect(column.get(4999, 1)).toBe(7);
  });
});
