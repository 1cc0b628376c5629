import { describe, expect, it } from 'vitest';
import { SystemBusError } from '../../../../src/kubelet/systemd/system-bus.ts';
import { SystemdUnits } from '../../../../src/kubelet/systemd/systemd-units.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeKernel } from '../cgroups/fake-kernel.ts';
import { FakeSystemd, refusal } from './fake-systemd.ts';

const memory = (bytes: bigint) => [['MemoryMax', ['t', bytes]]] as const;

function setUp() {
  const clock = new FakeClock();
  const systemd = new FakeSystemd(new FakeKernel(2));
  return { clock, systemd, units: new SystemdUnits({ openBus: systemd.open, clock }) };
}

describe('SystemdUnits', () => {
  it('starts, changes and stops a unit over one connection', async () => {
    const { systemd, units } = setUp();
    await Promise.all([units.start('a.slice', memory(5n), []), units.start('b.slice', memory(6n), [])]);
    expect([...systemd.active]).toEqual(['a.slice', 'b.slice']);
    await units.change('a.slice', memory(7n));
    expect(systemd.units.get('a.slice')?.get('MemoryMax')).toBe(7n);
    await units.stop('a.slice');
    expect([...systemd.active]).toEqual(['b.slice']);
    expect(await units.list('*.slice')).toEqual([{ name: 'b.slice', activeState: 'active' }]);
    expect(systemd.opened).toBe(1);
  });

  it('gives a unit that is there its properties, and starts it where it does not run', async () => {
    const { systemd, units } = setUp();
    systemd.units.set('a.slice', new Map());
    await units.start('a.slice', memory(5n), memory(6n));
    expect(systemd.calls).toEqual(['StartTransientUnit a.slice', 'StartUnit a.slice', 'SetUnitProperties a.slice']);
    expect(systemd.active.has('a.slice')).toBe(true);
    expect(systemd.units.get('a.slice')?.get('MemoryMax')).toBe(6n);
  });

  it('takes a unit that is not there for stopped, and has one forgotten that failed', async () => {
    const { systemd, units } = setUp();
    await units.stop('a.slice');
    systemd.units.set('b.scope', new Map());
    systemd.failed.add('b.scope');
    await units.forget('b.scope');
    expect(systemd.units.size).toBe(0);
  });

  it('says in the words of systemd what it refuses, and tries no second time', async () => {
    const { systemd, units } = setUp();
    systemd.refuse = (member) =>
      member === 'SetUnitProperties'
        ? refusal('org.freedesktop.DBus.Error.PropertyReadOnly', 'Cannot set property X')
        : undefined;
    const refused = await units.change('a.slice', memory(5n)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SystemBusError);
    expect(refused).toMatchObject({
      message: 'systemd did not change a.slice: Cannot set property X',
      refusal: 'org.freedesktop.DBus.Error.PropertyReadOnly',
      code: 'ERR_SYSTEMD',
    });
    expect(systemd.calls).toEqual(['SetUnitProperties a.slice']);
  });

  it.each(['failed', 'timeout', 'dependency'])('rejects where the job of a start ended with %s', async (result) => {
    const { systemd, units } = setUp();
    systemd.result = result;
    await expect(units.start('a.slice', [], [])).rejects.toThrow(`systemd did not start a.slice: the job ended with "${result}"`);
    expect(systemd.calls.at(-1)).toBe('ResetFailedUnit a.slice');
  });

  it('asks about a job whose end nobody told', async () => {
    const { clock, systemd, units } = setUp();
    systemd.isMute = true;
    systemd.holdsJobs = true;
    const started = units.start('a.slice', [], []);
    await clock.advance(2000);
    expect(systemd.calls.filter((call) => call === 'GetJob 1')).toHaveLength(2);
    systemd.endJobs();
    await clock.advance(1000);
    await started;
  });

  it('does again what a connection that went has cost', async () => {
    const { clock, systemd, units } = setUp();
    systemd.holdsJobs = true;
    const started = units.start('a.slice', [], memory(6n));
    await settle();
    systemd.holdsJobs = false;
    systemd.drop();
    await clock.advance(50);
    await started;
    expect(systemd.opened).toBe(2);
    expect(systemd.units.get('a.slice')?.get('MemoryMax')).toBe(6n);
    systemd.drop();
    await units.change('a.slice', memory(7n));
    expect(systemd.opened).toBe(3);
  });

  it('waits for a systemd that is executed anew', async () => {
    const { clock, systemd, units } = setUp();
    let isAway = true;
    systemd.refuse = () => (isAway ? refusal('org.freedesktop.DBus.Error.NoReply', 'gone') : undefined);
    const started = units.start('a.slice', [], []);
    await clock.advance(14_000);
    isAway = false;
    await clock.advance(500);
    await started;
    expect(systemd.active.has('a.slice')).toBe(true);
  });

  it('gives up a systemd that stays away, with its words', async () => {
    const { clock, systemd, units } = setUp();
    systemd.away = new SystemBusError('connect ECONNREFUSED', { isLost: true });
    const started = expect(units.start('a.slice', [], [])).rejects.toThrow('systemd did not start a.slice: connect ECONNREFUSED');
    for (let step = 0; step < 40; step += 1) await clock.advance(500);
    await started;
    // one that was not there when the agent started is waited for less
    const asked = expect(units.version()).rejects.toThrow('systemd did not tell its version');
    for (let step = 0; step < 12; step += 1) await clock.advance(500);
    await asked;
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['open', 'StartTransientUnit'])('waits no longer than 30 s where %s has no answer', async (member) => {
    const { clock, systemd, units } = setUp();
    systemd.hanging.add(member);
    const started = expect(units.start('a.slice', [], [])).rejects.toThrow(/systemd did not start a\.slice: no answer in \d+ s/);
    for (let step = 0; step < 62; step += 1) await clock.advance(500);
    await started;
    expect(clock.pendingTimers).toBe(0);
  });

  it('lives with a bus that throws or answers nonsense', async () => {
    const clock = new FakeClock();
    const openBus = (): never => {
      throw new Error('no bus for you');
    };
    await expect(new SystemdUnits({ openBus, clock }).version()).rejects.toThrow('no bus for you');
    const { systemd, units } = setUp();
    systemd.versionText = 'nonsense';
    expect(await units.version()).toBeUndefined();
    systemd.refuse = () => undefined;
    systemd.units.set('a.slice', new Map());
    expect(await units.list('a.slice')).toEqual([{ name: 'a.slice', activeState: 'inactive' }]);
  });

  it('reads the version that begins with a number', async () => {
    const { systemd, units } = setUp();
    expect(await units.version()).toBe(252);
    systemd.versionText = 'v258-1.fc43';
    expect(await units.version()).toBe(258);
  });
});
