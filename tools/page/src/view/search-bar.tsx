import type { ComponentChildren, VNode } from 'preact';
import { count, counted } from '../text/format.ts';
import { filterInputId, focusById, tableId } from './keys.ts';

export interface SearchBarProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  /** What is searched, and how many pass; `matching` is undefined without a filter. */
  readonly word: string;
  readonly size: number;
  readonly matching: number | undefined;
  readonly chips: ComponentChildren;
  readonly sort?: VNode;
  readonly onText: (text: string) => void;
  /** The keyboard goes on to the table. */
  readonly onLeave: () => void;
}

/** What is looked for in a table: words, and chips to press. */
export function SearchBar(props: SearchBarProps): VNode {
  const { label, placeholder, text, word, size, matching, chips, sort, onText } = props;
  return (
    <search class="filter-bar">
      <input
        id={filterInputId}
        type="search"
        placeholder={placeholder}
        aria-label={label}
        aria-keyshortcuts="/"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => intoTable(event, props)}
      />
      <div class="chip-groups">{chips}</div>
      <span class="spring" />
      {sort ?? null}
      <output class="muted" for={filterInputId}>
        {matching === undefined ? '' : `${count(matching)} of `}
        {counted(word, size)}
      </output>
    </search>
  );
}

function intoTable(event: KeyboardEvent, { onLeave }: SearchBarProps): void {
  if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
  event.preventDefault();
  onLeave();
  focusById(tableId);
}

/** The chips of what there is. What is chosen stays when nothing is left of it: else it could not be chosen off. */
export function withChosen(names: readonly string[], chosen: readonly string[]): string[] {
  return [...new Set([...names, ...chosen])];
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

/** Those in trouble alone. */
export function TroubleChip({ pods, ...chip }: Omit<ChipProps, 'name' | 'look'>): VNode {
  return <Chip name="in trouble" look={pods === 0 ? 'plain' : 'tone-bad'} pods={pods} {...chip} />;
}
