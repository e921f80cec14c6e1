import { type LastOutcome, type LastOutcomes } from '../../ports/last-outcomes.js';
import { LAST_OUTCOME_LUA } from './last-outcome-lua.js';
import { type RedisConnection } from './redis-connection.js';
import { ScriptBatch } from './script-batch.js';

/** KEYS last outcome · ARGV slot, finished at, status. */
const NOTE = `
${LAST_OUTCOME_LUA}
noteOutcome(KEYS[1], ARGV[1], ARGV[2], ARGV[3])
return 1
`;

/** A hash per task that ran within a year; workers add to it in the script that finishes a claim. */
export class RedisLastOutcomes implements LastOutcomes {
  private readonly noting: ScriptBatch;

  constructor(private readonly connection: RedisConnection) {
    this.noting = new ScriptBatch(connection, NOTE);
  }

  async read(taskId: string): Promise<LastOutcome | null> {
    const { keys } = this.connection;
    const [slot, finishedAt, status] = await this.connection.run((client) =>
      client.hmget(keys.lastOutcome(taskId), 'slot', 'finished_at', 'status'),
    );
    if (status !== 'success' && status !== 'fail' && status !== 'timeout') return null;
    return { status, slot: Number(slot), finishedAt: Number(finishedAt) };
  }

  async note(outcomes: Parameters<LastOutcomes['note']>[0]): Promise<void> {
    const { keys } = this.connection;
    await Promise.all(
      outcomes.map(({ taskId, outcome: { slot, finishedAt, status } }) =>
        this.noting.call([keys.lastOutcome(taskId)], [slot, finishedAt, status]),
      ),
    );
  }

  async filledFor(): Promise<string | null> {
    const { lastOutcomesFilled } = this.connection.keys;
    return this.connection.run((client) => client.get(lastOutcomesFilled));
  }

  async markFilled(epoch: string): Promise<void> {
    const { lastOutcomesFilled } = this.connection.keys;
    await this.connection.run((client) => client.set(lastOutcomesFilled, epoch));
  }
}
