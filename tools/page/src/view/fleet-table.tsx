import type { VNode } from 'preact';
import type { FleetSortKey } from '../../../../src/observe/debug/fleet-query.ts';
import { isEveryNode } from '../model/fleet-model.ts';
import type { Model } from '../model/model.ts';
import { fleetColumns } from '../text/node-words.ts';
import { FleetRow } from './fleet-row.tsx';
import { EmptyTable, RowTable } from './row-table.tsx';

export interface FleetTableProps {
  readonly model: Model;
  readonly isNarrow: boolean;
}

/** The table of nodes, of which the rows that can be seen are read, and a few more. */
export function FleetTable({ model, isNarrow }: FleetTableProps): VNode {
  const { fleet, active, filter, openNode } = model.fleet;
  const { sort, descending } = filter;
  const open = (index: number): void => {
    const row = model.fleet.row(index);
    if (row === undefined) return;
    model.fleet.activate(index);
    model.openFleetNode(row.nodeName);
  };
  return (
    <RowTable
      label="Nodes"
      isNarrow={isNarrow}
      isBusy={fleet === undefined}
      size={fleet?.matching ?? 0}
      active={active}
      activeNow={() => model.fleet.active}
      columns={fleetColumns}
      sorted={sort}
      isDescending={descending}
      rowClass="fleet-row"
      empty={
        <EmptyTable
          isBusy={fleet === undefined}
          isFiltered={!isEveryNode(filter)}
          none="The fleet has no node yet."
          noMatch="No node passes the filter."
          onClear={() => model.clearFilter()}
        />
      }
      row={({ key, index, ...place }) => {
        const row = model.fleet.row(index);
        const onOpen = (): void => open(index);
        return (
          <FleetRow key={key} index={index} {...place} row={row} now={model.now()} openName={openNode?.key} onOpen={onOpen} />
        );
      }}
      onSort={(key) => model.filterFleetBy({ sort: key as FleetSortKey, descending: key === sort && !descending })}
      onOpen={open}
      onMove={(by) => model.fleet.moveActive(by)}
      onLook={(start, end) => model.fleet.look(start, end)}
    />
  );
}
