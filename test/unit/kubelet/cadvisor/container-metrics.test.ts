import { utimes } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { containerID, measuredNode, onePod, samplesOf, sandboxID, type Tree } from './cgroup-tree.ts';
import recorded from './kubelet-series.json' with { type: 'json' };

/** The files of one group of version 2. */
function group2(path: string, more: Tree = {}): Tree {
  const files: Tree = {
    'cgroup.procs': '7\n8\n',
    'cpu.stat':
      'usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnr_periods 10\nnr_throttled 3\nthrottled_usec 250000\n',
    'cpu.max': '20000 100000\n',
    'cpu.weight': '39\n',
    'memory.current': '5000000\n',
    'memory.peak': '6000000\n',
    'memory.swap.current': '4096\n',
    'memory.stat': 'anon 3000000\nfile 1500000\nfile_mapped 200000\nactive_file 400000\ninactive_file 1000000\n',
    'memory.events': 'low 0\nhigh 0\nmax 2\noom 1\noom_kill 1\n',
    'memory.max': '67108864\n',
    'memory.swap.max': 'max\n',
    'memory.min': '4194304\n',
    'memory.low': '8388608\n',
    'pids.current': '3\n',
    'pids.max': 'max\n',
    'io.stat': '8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n7:9 rbytes=1\n',
    'cpu.pressure':
      'some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n',
    ...more,
  };
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${path}/${name}`, text]));
}

const pod2 = 'kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu1.slice';
const sys: Tree = { 'dev/block/8:0/uevent': 'MAJOR=8\nMINOR=0\nDEVNAME=sda\nDEVTYPE=disk\n' };
const net = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:  100 1 0 0 0 0 0 0  100 1 0 0 0 0 0 0
  eth0: 1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0
vethab: 9 9 9 9 0 0 0 0 9 9 9 9 0 0 0 0
`;
const version2 = {
  cgroups: {
    'cgroup.controllers': 'cpu io memory pids\n',
    ...group2('kubepods.slice', { 'cpu.max': 'max 100000\n' }),
    ...group2('kubepods.slice/kubepods-burstable.slice'),
    ...group2(pod2),
    ...group2(`${pod2}/cri-containerd-${containerID}.scope`),
    ...group2(`${pod2}/cri-containerd-${sandboxID}.scope`, { 'cgroup.procs': '70\n' }),
    ...group2(`${pod2}/cri-containerd-${'d'.repeat(64)}.scope`),
    ...group2('kubepods.slice/kubepods-podgone.slice'),
    ...group2('system.slice'),
  },
  sys,
  proc: { '70/net/dev': net, '1/net/dev': net, '1/mounts': '' },
};
const of = (container: string, image: string, name: string, id: string): string =>
  `container="${container}",image="${image}",name="${name}",namespace="shop",pod="web",id="/${id}"`;
const app = of('app', 'quay.io/shop/app:1', containerID, `${pod2}/cri-containerd-${containerID}.scope`);
const sandbox = of('', 'registry.k8s.io/pause:3.10', sandboxID, `${pod2}/cri-containerd-${sandboxID}.scope`);

describe('what containers take, by cgroups of version 2 with systemd', () => {
  it('is shown of the machine, of all pods, their class, each pod, its sandbox and its containers, and of nothing else', async () => {
    const { metrics } = await measuredNode(version2);
    const empty = (id: string): string => `{container="",image="",name="",namespace="",pod="",id="${id}",cpu="total"} 1.5`;
    expect(samplesOf(await metrics.text(), 'container_cpu_usage_seconds_total')).toEqual(
      [
        empty('/kubepods.slice'),
        empty('/kubepods.slice/kubepods-burstable.slice'),
        `{${of('', '', '', pod2)},cpu="total"} 1.5`,
        `{${app},cpu="total"} 1.5`,
        `{${sandbox},cpu="total"} 1.5`,
      ].sort(),
    );
  });

  it.each([
    ['container_cpu_user_seconds_total', '1'],
    ['container_cpu_system_seconds_total', '0.5'],
    ['container_cpu_cfs_periods_total', '10'],
    ['container_cpu_cfs_throttled_periods_total', '3'],
    ['container_cpu_cfs_throttled_seconds_total', '0.25'],
    ['container_memory_usage_bytes', '5000000'],
    ['container_memory_working_set_bytes', '4000000'],
    ['container_memory_rss', '3000000'],
    ['container_memory_cache', '1500000'],
    ['container_memory_mapped_file', '200000'],
    ['container_memory_swap', '4096'],
    ['container_memory_max_usage_bytes', '6000000'],
    ['container_oom_events_total', '1'],
    ['container_processes', '2'],
    ['container_threads', '3'],
    ['container_threads_max', '0'],
    ['container_spec_cpu_quota', '20000'],
    ['container_spec_cpu_period', '100000'],
    ['container_spec_cpu_shares', '998'],
    ['container_spec_memory_limit_bytes', '67108864'],
    ['container_spec_memory_swap_limit_bytes', '0'],
    ['container_spec_memory_reservation_limit_bytes', '4194304'],
    ['container_start_time_seconds', '1700000000'],
    ['container_pressure_cpu_waiting_seconds_total', '2'],
    ['container_pressure_cpu_stalled_seconds_total', '1'],
  ])('%s is %s', async (family, value) => {
    const { metrics } = await measuredNode(version2);
    expect(samplesOf(await metrics.text(), family)).toContain(`{${app}} ${value}`);
  });

  it.each([
    ['container_spec_memory_limit_bytes', 8e9],
    ['container_spec_memory_swap_limit_bytes', 2e9],
    ['container_spec_memory_reservation_limit_bytes', 0],
  ])('shows %s of the machine, whose group has no limits', async (family, value) => {
    const { metrics } = await measuredNode(version2);
    const shown = samplesOf(await metrics.text(), family).filter((line) => line.includes('id="/"'));
    expect(shown).toEqual([`{container="",image="",name="",namespace="",pod="",id="/"} ${value}`]);
  });

  it.each([
    ['before its folder changed last', 1_600_000_000, 1_500_000_000, 1_600_000_000],
    ['never before the machine started', 1_600_000_000, 1_650_000_059, 1_650_000_000],
  ])('shows that a pod began when its files say, %s', async (_, eventsAt, btime, begunAt) => {
    const { cgroups, proc } = version2;
    const events = { [`${pod2}/cgroup.events`]: 'populated 1\nfrozen 0\n' };
    const node = await measuredNode({
      sys,
      cgroups: { ...cgroups, ...events },
      proc: { ...proc, stat: `cpu 1 2\nbtime ${btime}\nprocesses 9\n` },
    });
    await utimes(`${node.places.cgroups}/${pod2}`, 1_690_000_000, 1_690_000_000);
    await utimes(`${node.places.cgroups}/${pod2}/cgroup.events`, eventsAt, eventsAt);
    expect(samplesOf(await node.metrics.text(), 'container_start_time_seconds')).toContain(
      `{${of('', '', '', pod2)}} ${begunAt}`,
    );
  });

  it('shows a container of CRI-O once, and not what watches it', async () => {
    const { cgroups } = version2;
    const named = Object.entries(cgroups).map(([name, text]) => [name.replaceAll('cri-containerd', 'crio'), text]);
    const watching = group2(`${pod2}/crio-conmon-${containerID}.scope`, { 'memory.current': '1\n' });
    const { metrics } = await measuredNode({ ...version2, cgroups: { ...Object.fromEntries(named), ...watching } });
    const shown = samplesOf(await metrics.text(), 'container_memory_usage_bytes').filter((line) =>
      line.includes('container="app"'),
    );
    expect(shown).toEqual([`{${app.replace('cri-containerd', 'crio')}} 5000000`]);
  });

  it('has what was read and written of each disk by its file, and of no device without one', async () => {
    const { metrics } = await measuredNode(version2);
    const text = await metrics.text();
    const shown = (family: string) => samplesOf(text, family).filter((line) => line.includes('container="app"'));
    expect(shown('container_fs_reads_bytes_total')).toEqual([`{${app},device="/dev/sda"} 4096`]);
    expect(shown('container_fs_writes_bytes_total')).toEqual([`{${app},device="/dev/sda"} 8192`]);
    expect(shown('container_fs_reads_total')).toEqual([`{${app},device="/dev/sda"} 1`]);
    expect(shown('container_fs_writes_total')).toEqual([`{${app},device="/dev/sda"} 2`]);
  });

  it.each([
    ['receive_bytes', 1000],
    ['receive_packets', 10],
    ['receive_errors', 1],
    ['receive_packets_dropped', 2],
    ['transmit_bytes', 2000],
    ['transmit_packets', 20],
    ['transmit_errors', 3],
    ['transmit_packets_dropped', 4],
  ])('has container_network_%s_total of the sandbox, of its own interfaces: %d', async (what, value) => {
    const { metrics } = await measuredNode(version2);
    const shown = samplesOf(await metrics.text(), `container_network_${what}_total`).filter((line) => line.includes('pod="web"'));
    expect(shown).toEqual([`{${sandbox},interface="eth0"} ${value}`]);
  });

  it('has no throttling of what has no limit', async () => {
    const { metrics } = await measuredNode(version2);
    const ids = samplesOf(await metrics.text(), 'container_cpu_cfs_periods_total').join();
    expect(ids).not.toContain('id="/kubepods.slice"');
    expect(ids).toContain('id="/kubepods.slice/kubepods-burstable.slice"');
  });

  it('shows the machine, and the time of measurements alone', async () => {
    const { metrics, clock } = await measuredNode(version2);
    const text = await metrics.text();
    expect(samplesOf(text, 'machine_cpu_cores')).toEqual(['{boot_id="b",machine_id="m",system_uuid="s"} 4']);
    expect(samplesOf(text, 'machine_memory_bytes')).toEqual(['{boot_id="b",machine_id="m",system_uuid="s"} 8000000000']);
    expect(text).toContain(`container_memory_rss{${app}} 3000000 ${clock.now()}\n`);
    expect(text).toContain(`container_spec_cpu_quota{${app}} 20000\n`);
    expect(text).toContain('# TYPE container_memory_rss gauge\n');
    expect(text.match(/# TYPE container_memory_rss /g)).toHaveLength(1);
  });
});

describe('what containers take, by cgroups of version 1', () => {
  const pod1 = 'kubepods/burstable/podu1';
  const group1 = (path: string): Tree => ({
    [`memory/${path}/cgroup.procs`]: '7\n',
    [`memory/${path}/memory.usage_in_bytes`]: '5000000\n',
    [`memory/${path}/memory.stat`]:
      'rss 1\ntotal_rss 3000000\ntotal_cache 1500000\ntotal_swap 4096\ntotal_inactive_file 1000000\ntotal_mapped_file 9\n',
    [`memory/${path}/memory.limit_in_bytes`]: '9223372036854771712\n',
    [`memory/${path}/memory.failcnt`]: '5\n',
    [`memory/${path}/memory.oom_control`]: 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n',
    [`cpuacct/${path}/cpuacct.usage`]: '1500000000\n',
    [`cpuacct/${path}/cpuacct.stat`]: 'user 100\nsystem 50\n',
    [`cpu/${path}/cpu.stat`]: 'nr_periods 10\nnr_throttled 3\nthrottled_time 250000000\n',
    [`cpu/${path}/cpu.cfs_quota_us`]: '20000\n',
    [`cpu/${path}/cpu.cfs_period_us`]: '100000\n',
    [`cpu/${path}/cpu.shares`]: '102\n',
    [`pids/${path}/pids.current`]: '3\n',
    [`pids/${path}/pids.max`]: '100\n',
    [`blkio/${path}/blkio.throttle.io_service_bytes_recursive`]: '8:0 Read 4096\n8:0 Write 8192\n8:0 Sync 0\nTotal 12288\n',
    [`blkio/${path}/blkio.throttle.io_serviced_recursive`]: '8:0 Read 1\n8:0 Write 2\nTotal 3\n',
  });
  const version1 = {
    cgroups: { ...group1('kubepods'), ...group1('kubepods/burstable'), ...group1(pod1), ...group1(`${pod1}/${containerID}`) },
    sys,
  };
  const app1 = of('app', 'quay.io/shop/app:1', containerID, `${pod1}/${containerID}`);

  it.each([
    ['container_cpu_usage_seconds_total', ',cpu="total"', '1.5'],
    ['container_cpu_user_seconds_total', '', '1'],
    ['container_cpu_cfs_throttled_seconds_total', '', '0.25'],
    ['container_memory_working_set_bytes', '', '4000000'],
    ['container_memory_rss', '', '3000000'],
    ['container_memory_cache', '', '1500000'],
    ['container_memory_swap', '', '4096'],
    ['container_memory_failcnt', '', '5'],
    ['container_oom_events_total', '', '2'],
    ['container_spec_memory_limit_bytes', '', '0'],
    ['container_spec_cpu_shares', '', '102'],
    ['container_threads_max', '', '100'],
    ['container_fs_reads_bytes_total', ',device="/dev/sda"', '4096'],
    ['container_fs_writes_total', ',device="/dev/sda"', '2'],
  ])('%s%s is %s', async (family, more, value) => {
    const { metrics } = await measuredNode(version1);
    expect(samplesOf(await metrics.text(), family)).toContain(`{${app1}${more}} ${value}`);
  });
});

describe('the series', () => {
  /** Recorded of the kubelet v1.36.3 with containerd and cgroups of version 1: the labels of each. */
  const ofKubelet: Readonly<Record<string, readonly string[]>> = recorded;
  /** Which dashboards of kube-prometheus and kubernetes-mixin do not ask for. */
  const left =
    /^(?:cadvisor_version_info|machine_(?:cpu_(?!cores)|nvm|scrape)|container_(?:cpu_cfs_burst|cpu_load|file_desc|health|sockets|tasks|ulimits|memory_(?:failures|kernel))|container_fs_(?:io_|read_|reads_merged|sector|write_|writes_merged))/;

  it('are the kubelet’s but for those that nobody asks for, with the same labels', async () => {
    const { metrics } = await measuredNode({ ...version2, proc: { ...version2.proc, '1/mounts': '/dev/a / ext4 rw 0 0\n' } });
    const text = await metrics.text();
    const shown = new Map<string, string[]>();
    for (const [, family = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+/gm)) {
      shown.set(family, Array.from(labels.matchAll(/(\w+)="/g), ([, name = '']) => name).sort());
    }
    expect(Object.keys(ofKubelet).filter((family) => !shown.has(family) && !left.test(family))).toEqual([]);
    for (const [family, labels] of shown) {
      // those of version 2, and of a disk that the recorded machine did not count
      if (/^container_(?:pressure_|fs_(?:reads|writes)_bytes)/.test(family)) continue;
      expect([family, labels]).toEqual([family, ofKubelet[family]]);
    }
  });
});

describe('the reading', () => {
  it('is one for all who ask meanwhile, and counts for five seconds', async () => {
    let lists = 0;
    const listImages = async () => {
      lists += 1;
      return onePod.listImages();
    };
    const runtime = { ...onePod, listImages };
    const { metrics, clock } = await measuredNode(version2, runtime);
    const [one, two] = await Promise.all([metrics.text(), metrics.text()]);
    expect([one === two, lists]).toEqual([true, 1]);
    await clock.advance(4999);
    await metrics.text();
    expect(lists).toBe(1);
    await clock.advance(1);
    await metrics.text();
    expect(lists).toBe(2);
  });

  it('shows the groups of pods where the runtime does not answer, says so, and does not ask again meanwhile', async () => {
    let lists = 0;
    const runtime = {
      ...onePod,
      listContainers: () => {
        lists += 1;
        return new Promise<never>(() => {});
      },
    };
    const { metrics, clock, log } = await measuredNode(version2, runtime);
    const asked = metrics.text();
    await until(() => lists === 1);
    await clock.advance(4999);
    const askedLater = metrics.text();
    await clock.advance(1);
    const text = await asked;
    expect([await askedLater, lists]).toEqual([text, 1]);
    expect(samplesOf(text, 'container_scrape_error')).toEqual([' 1']);
    expect(samplesOf(text, 'container_memory_rss').length).toBe(4);
    expect(log.of('warn')).toEqual(['the runtime did not say which containers there are: their metrics are missing']);
  });

  it('says once that the runtime does not answer, however often it is asked, and once that it does again', async () => {
    let isDown = true;
    const listContainers = async () => {
      if (isDown) throw new Error('unavailable');
      return onePod.listContainers({});
    };
    const { metrics, clock, log } = await measuredNode(version2, { ...onePod, listContainers });
    const scrape = async () => {
      await metrics.text();
      await clock.advance(5000);
    };
    for (let scrapes = 0; scrapes < 3; scrapes += 1) await scrape();
    expect(log.of('warn').length).toBe(1);
    isDown = false;
    await scrape();
    await scrape();
    expect(log.saying('the runtime says again which containers there are: their metrics are shown')).toMatchObject([
      { level: 'info', fields: { attempt: 3, failingForMs: 15_000 } },
    ]);
    isDown = true;
    await scrape();
    expect(log.of('warn').length).toBe(2);
  });

  it('of the machine that the test runs on has its processors’ time and its disks', async () => {
    const { metrics } = await measuredNode({ cgroups: {} }, onePod);
    const text = await metrics.text();
    // no cgroups are there: the machine itself and its error are shown all the same
    expect(samplesOf(text, 'container_scrape_error')).toEqual([' 0']);
    expect(samplesOf(text, 'machine_cpu_cores').length).toBe(1);
  });
});
