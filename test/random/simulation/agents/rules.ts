/** The promises of a whole node agent. A check names the one that it finds broken. */
export type AgentRule =
  | 'nothing runs twice'
  | 'a pod leaves the server when nothing of it runs'
  | 'every end that is told has happened'
  | 'an ended pod stays ended'
  | 'a restart count never goes back'
  | 'what the server says is what runs'
  | 'no status is refused'
  | 'nothing survives its deletion'
  | 'the files of a pod go with it'
  | 'nothing is called after stop'
  | 'nothing is left after stop'
  | 'nothing unforeseen happens';

/** Told of each broken promise, with what shows it. */
export type AgentFound = (rule: AgentRule, detail: string) => void;
