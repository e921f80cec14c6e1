import { type TaskLabels } from '../../ports/metrics.js';

export interface SeriesLimits {
  /** Tasks, or groups, with series of their own. */
  readonly maxTasks: number;
  readonly by: 'task' | 'group';
}

/** In place of what has no series of its own. */
export const OTHER = '_other';
/** In place of a task where only groups have series. */
const ALL = '_all';
/** What had no value for so long gives its place to another task. */
const IDLE_MS = 86_400_000;
/** Looks for such a place are rare, since each goes through all. */
const LOOK_MS = 60_000;

interface Place {
  readonly labels: TaskLabels;
  /** Monotonic ms. */
  usedAt: number;
}

/**
 * Which tasks have series of their own, in the order in which they are met; the others share those of their group, as many groups as
 * tasks, and then one. A place is kept as long as nobody else needs it: a task that runs seldom must not begin at 0 each time.
 */
export class TaskSeries {
  private readonly places = new Map<string, Place>();
  private readonly groups = new Map<string, TaskLabels>();
  private readonly rest: TaskLabels = { group: OTHER, task: OTHER };
  private lookedAt = -Infinity;

  constructor(
    private readonly limits: SeriesLimits,
    private readonly monotonicMs: () => number,
    private readonly events: {
      /** A measurement falls to others. */
      readonly onOverflow: () => void;
      /** Its series are to be forgotten. */
      readonly onEvicted: (labels: TaskLabels) => void;
    },
  ) {}

  /** With series of their own. */
  get size(): number {
    return this.limits.by === 'task' ? this.places.size : this.groups.size;
  }

  /** The labels that count for a task. */
  of({ group, task }: TaskLabels): TaskLabels {
    if (this.limits.by === 'group') return this.ofGroup(group, ALL);
    const key = `${group}\n${task}`;
    const now = this.monotonicMs();
    const known = this.places.get(key);
    if (known !== undefined) {
      known.usedAt = now;
      return known.labels;
    }
    if (this.places.size >= this.limits.maxTasks && !this.makeRoom(now)) {
      const labels = this.ofGroup(group, OTHER);
      if (labels !== this.rest) this.events.onOverflow();
      return labels;
    }
    const labels = { group, task };
    this.places.set(key, { labels, usedAt: now });
    return labels;
  }

  private ofGroup(group: string, task: string): TaskLabels {
    const known = this.groups.get(group);
    if (known !== undefined) return known;
    if (this.groups.size >= this.limits.maxTasks) {
      this.events.onOverflow();
      return this.rest;
    }
    const labels = { group, task };
    this.groups.set(group, labels);
    return labels;
  }

  private makeRoom(now: number): boolean {
    if (now - this.lookedAt < LOOK_MS) return false;
    this.lookedAt = now;
    for (const [key, { labels, usedAt }] of this.places) {
      if (now - usedAt < IDLE_MS) continue;
      this.places.delete(key);
      this.events.onEvicted(labels);
    }
    return this.places.size < this.limits.maxTasks;
  }
}
