import type { VNode } from 'preact';
import type { Model } from '../model/model.ts';
import { isEmpty, toggled } from '../model/pod-filter.ts';
import { orderText, parseOrder, sortKeys } from '../model/pod-order.ts';
import { count, counted } from '../text/format.ts';
import { meaningOf, rankOf, type Sync, toneOf } from '../text/sync-words.ts';
import { filterInputId, focusById, tableId } from './keys.ts';

export function FilterBar({ model }: { readonly model: Model }): VNode {
  const { filter, shown, size } = model.rows;
  const { bySync = {}, byPhase = {}, inTrouble = 0 } = model.summary ?? {};
  const states = withChosen(Object.keys(bySync), filter.sync) as Sync[];
  return (
    <search class="filter-bar">
      <input
        id={filterInputId}
        type="search"
        placeholder="Filter by name, namespace or UID"
        aria-label="Filter by name, namespace or UID"
        aria-keyshortcuts="/"
        autocomplete="off"
        spellcheck={false}
        value={filter.text}
        onInput={(event) => model.filterBy({ text: event.currentTarget.value })}
        onKeyDown={(event) => intoTable(event, model)}
      />
      <div class="chip-groups">
        <Chip
          name="in trouble"
          title="Pods with a problem"
          look={inTrouble === 0 ? 'plain' : 'tone-bad'}
          pods={inTrouble}
          isPressed={filter.trouble}
          onPress={() => model.filterBy({ trouble: !filter.trouble })}
        />
        <fieldset class="chips" aria-label="Sync state">
          {states
            .sort((a, b) => rankOf(a) - rankOf(b))
            .map((state) => (
              <Chip
                key={state}
                name={state}
                title={meaningOf(state)}
                look={inTrouble > 0 && toneOf(state) === 'good' ? 'plain' : `tone-${toneOf(state)}`}
                pods={bySync[state] ?? 0}
                isPressed={filter.sync.includes(state)}
                onPress={() => model.filterBy({ sync: toggled(filter.sync, state) })}
              />
            ))}
        </fieldset>
        <fieldset class="chips" aria-label="Phase">
          {withChosen(Object.keys(byPhase), filter.phase)
            .sort()
            .map((phase) => (
              <Chip
                key={phase}
                name={phase}
                title={`Pods of the phase ${phase}`}
                look="plain"
                pods={byPhase[phase] ?? 0}
                isPressed={filter.phase.includes(phase)}
                onPress={() => model.filterBy({ phase: toggled(filter.phase, phase) })}
              />
            ))}
        </fieldset>
      </div>
      <span class="spring" />
      <SortSelect model={model} />
      <output class="muted" for={filterInputId}>
        {isEmpty(filter) ? '' : `${count(shown.length)} of `}
        {counted('pod', size)}
      </output>
    </search>
  );
}

/** What is chosen stays in the list when no pod is left of it: else it could not be chosen off. */
function withChosen(names: readonly string[], chosen: readonly string[]): string[] {
  return [...new Set([...names, ...chosen])];
}

function intoTable(event: KeyboardEvent, model: Model): void {
  if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
  event.preventDefault();
  if (model.activeIndex() < 0) model.moveActive(0);
  focusById(tableId);
}

export interface ChipProps {
  readonly name: string;
  readonly title: string;
  readonly look: string;
  /** How many pods or nodes it stands for. */
  readonly pods: number;
  readonly isPressed: boolean;
  readonly onPress: () => void;
}

export function Chip({ name, title, look, pods, isPressed, onPress }: ChipProps): VNode {
  return (
    <button type="button" class={`chip ${look}`} title={title} aria-pressed={isPressed} onClick={onPress}>
      {name} <b>{count(pods)}</b>
    </button>
  );
}

/** Where the table has no head, on a phone. */
function SortSelect({ model }: { readonly model: Model }): VNode {
  return (
    <select
      class="sort-select"
      aria-label="Sort by"
      value={orderText(model.rows.order)}
      onChange={(event) => model.sortBy(parseOrder(event.currentTarget.value))}
    >
      {Object.entries(sortKeys).flatMap(([value, title]) => [
        <option key={value} value={value}>
          {title} ↑
        </option>,
        <option key={`-${value}`} value={`-${value}`}>
          {title} ↓
        </option>,
      ])}
    </select>
  );
}
