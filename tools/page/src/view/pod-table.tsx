import type { VNode } from 'preact';
import type { Model } from '../model/model.ts';
import { isEmpty } from '../model/pod-filter.ts';
import { type SortKey, sortKeys } from '../model/pod-order.ts';
import { PodRow } from './pod-row.tsx';
import { EmptyTable, RowTable } from './row-table.tsx';

export interface PodTableProps {
  readonly model: Model;
  readonly isNarrow: boolean;
}

const columns = Object.entries(sortKeys).map(([key, title]) => [key, key, title] as const);

/** The table of pods. */
export function PodTable({ model, isNarrow }: PodTableProps): VNode {
  const { shown, order, filter } = model.rows;
  const isBusy = model.summary === undefined;
  const open = (index: number): void => {
    const row = shown[index];
    if (row !== undefined) model.open(row.podUID);
  };
  return (
    <RowTable
      label="Pods"
      isNarrow={isNarrow}
      isBusy={isBusy}
      size={shown.length}
      active={model.activeIndex()}
      activeNow={() => model.activeIndex()}
      columns={columns}
      sorted={order.key}
      isDescending={order.descending}
      empty={
        <EmptyTable
          isBusy={isBusy}
          isFiltered={!isEmpty(filter)}
          none="There is no pod yet."
          noMatch="No pod passes the filter."
          onClear={() => model.clearFilter()}
        />
      }
      row={({ key, index, ...place }) => {
        const row = shown[index] as (typeof shown)[number];
        const isOpen = row.podUID === model.openPod?.key;
        const onOpen = (): void => open(index);
        return <PodRow key={key} index={index} {...place} row={row} now={model.now()} isOpen={isOpen} onOpen={onOpen} />;
      }}
      onSort={(key) => model.toggleSort(key as SortKey)}
      onOpen={open}
      onMove={(by) => model.moveActive(by)}
    />
  );
}
