import { type TaskDefinition } from '../domain/task.js';
import { type SlotKey, type TriggerEvent } from '../domain/trigger.js';

/** What a worker needs to run an event; it never reads the task store. `pool` is the lane that the message goes through (`laneOf`). */
export interface TaskSnapshot extends Pick<
  TaskDefinition,
  'name' | 'group' | 'executor' | 'params' | 'policy' | 'hooks' | 'pool'
> {
  readonly id: string;
}

export interface QueueMessage {
  readonly event: TriggerEvent;
  readonly task: TaskSnapshot;
  /** The queue's life in which it was published: in another one its claims may be forgotten. */
  readonly queueEpoch: string;
  /** Claims of this message get generations above this one; 0 for a first publish. */
  readonly generationFloor: number;
  /** Epoch ms. */
  readonly publishedAt: number;
  /** Trace context of the publishing; absent: nobody told of it. */
  readonly traceparent?: string;
  /** Published before, and lost as far as recovery can tell. */
  readonly isRepublished?: boolean;
}

/** One handing-out of a message. `handle` is the adapter's own. */
export interface Delivery {
  readonly message: QueueMessage;
  readonly handle: string;
}

/**
 * - `added`: a new message;
 * - `known`: this event is queued, claimed or finished already, nothing was added;
 * - `duplicate`: another event holds the same slot, nothing was added.
 */
export type PublishOutcome = 'added' | 'known' | 'duplicate';

/** `waiting`: in the line of its task (see the Claims port). `unknown`: the queue has never heard of the event, or has lost it. */
export type RunState = 'queued' | 'waiting' | 'claimed' | 'finished' | 'unknown';

/**
 * Durable, at-least-once delivery of trigger events to workers, one lane per pool and one for its shell tasks. A message stays until its run is finished
 * (see the Claims port). While the queue keeps its data, publishing one event any number of times makes one message.
 * All calls throw AxError `unavailable` when the store cannot be reached.
 */
export interface Queue {
  /** Names the queue's current life: changes whenever messages or claims may have been lost, never otherwise. */
  epoch(): Promise<string>;
  /**
   * Publishes a batch in one round trip; outcomes are in the order of `messages`. Atomic per message, not per batch. An event that waits
   * in the line of its task is `known`, and whatever of that line there is room for is handed out.
   */
  publish(messages: readonly QueueMessage[]): Promise<PublishOutcome[]>;
  /** Messages not yet finished, over all pools, without those that wait in a line. */
  depth(): Promise<number>;
  /** The same by lane; lanes that are empty may be there or not. */
  backlog(): Promise<LaneBacklog[]>;
  /** In the order of `keys`; one round trip. */
  states(keys: readonly (SlotKey & { readonly id: string })[]): Promise<RunState[]>;
  /**
   * Up to `max` messages of these pools, oldest first: new ones, and those whose taker neither finished nor renewed for
   * `reclaimAfterMs`. Waits up to `waitMs` for the first; returns early, possibly with messages, when `signal` aborts. Each message
   * goes to one taker at a time. `taker` identifies one worker for one life of its process. A message that cannot be decoded is
   * dropped and reported through `onPoison`.
   */
  take(request: TakeRequest): Promise<Delivery[]>;
  /** Puts unclaimed deliveries back for others to take at once. */
  giveBack(deliveries: readonly Delivery[]): Promise<void>;
}

/** Messages of one lane that are not finished. */
export interface LaneBacklog {
  readonly lane: string;
  /** For a worker. */
  readonly waiting: number;
  /** By a worker that neither finished nor gave them back. */
  readonly taken: number;
  /** How long the oldest that waits has waited since it was published or put back; 0 when none does. */
  readonly oldestWaitMs: number;
}

export interface TakeRequest {
  readonly pools: readonly string[];
  readonly taker: string;
  readonly max: number;
  readonly waitMs: number;
  readonly reclaimAfterMs: number;
  readonly signal: AbortSignal;
  readonly onPoison: (handle: string, error: unknown) => void;
}
