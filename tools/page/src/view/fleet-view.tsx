import type { VNode } from 'preact';
import type { DebugFleet, DebugFleetMember } from '../../../../src/observe/debug/debug-fleet-api.ts';
import { memberState } from '../../../../src/observe/debug/fleet-words.ts';
import { fleetSeries } from '../model/fleet-columns.ts';
import type { Model } from '../model/model.ts';
import { age, count } from '../text/format.ts';
import type { Tone } from '../text/sync-words.ts';
import { FleetFilterBar } from './fleet-filter-bar.tsx';
import { FleetTable } from './fleet-table.tsx';
import { LineChart } from './line-chart.tsx';

export interface FleetViewProps {
  readonly model: Model;
  readonly isNarrow: boolean;
}

/** The fleet, in the place of the pods: its numbers, who has how many shards, and every node. */
export function FleetView({ model, isNarrow }: FleetViewProps): VNode {
  const { fleet, failure } = model.fleet;
  return (
    <>
      {failure === undefined ? null : <p class="notice tone-bad">{failure}</p>}
      <FleetSummary fleet={fleet} />
      {fleet === undefined ? null : (
        <details class="charts" open={!isNarrow}>
          <summary>
            Members and their shards <span class="muted">last five minutes</span>
          </summary>
          <div class="chart-pair">
            <ShardChart fleet={fleet} />
            <Members members={fleet.allMembers} now={model.now()} />
          </div>
        </details>
      )}
      <FleetFilterBar model={model} />
      <FleetTable model={model} isNarrow={isNarrow} />
    </>
  );
}

function FleetSummary({ fleet }: { readonly fleet: DebugFleet | undefined }): VNode {
  const numbers: readonly (readonly [name: string, value: string, title: string])[] =
    fleet === undefined
      ? ['Members', 'Shards', 'Moving', 'Nodes'].map((name) => [name, '–', ''])
      : [
          ['Members', count(fleet.members), 'Processes whose Lease is fresh'],
          ['Shards', count(fleet.shards), 'Parts of the nodes, each owned by one member'],
          ...(fleet.unowned > 0
            ? [['Unowned', `! ${count(fleet.unowned)}`, 'Nobody serves the nodes of these shards'] as const]
            : []),
          ['Moving', count(fleet.moving), 'Shards that come to this member, or go from it'],
          ['Nodes', count(fleet.known), 'All nodes of the fleet'],
          ['Here', count(fleet.byState.running ?? 0), `Nodes that run in this process, ${fleet.id}`],
        ];
  return (
    <dl class="summary" aria-label="The fleet">
      {numbers.map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function ShardChart({ fleet }: { readonly fleet: DebugFleet }): VNode {
  const { history } = fleet;
  const series = fleetSeries(history);
  return (
    <LineChart
      // the chart has one line for each of them
      key={series.map(({ name }) => name).join(' ')}
      title="Shards by member"
      subtitle=""
      isCount
      isStacked
      seconds={history.at.map((at) => at / 1000)}
      values={series.map(({ values }) => values)}
      series={series.map(({ name, colour }) => ({ name, colour, format: count }))}
      axis={count}
    />
  );
}

const tones: Readonly<Record<string, Tone>> = { alive: 'good', leaving: 'busy', gone: 'bad' };

function Members({ members, now }: { readonly members: readonly DebugFleetMember[]; readonly now: number }): VNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard
    <section class="members" aria-label="Members" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {['Member', 'State', 'Shards', 'Nodes', 'Renewed', 'Process'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <tr key={member.id}>
              <th scope="row">
                {member.id}
                {member.isSelf ? <span class="tag">this one</span> : null}
              </th>
              <td>
                <span class={`pill tone-${tones[memberState(member)]}`}>{memberState(member)}</span>
              </td>
              <td class="number">{count(member.shards)}</td>
              <td class="number">{count(member.nodes)}</td>
              <td class="number">{member.seenAt === undefined ? '–' : age(member.seenAt, now)}</td>
              <td>{member.agent ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
