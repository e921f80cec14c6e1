import { type Diagnosis, ok, problem, warning } from '../../domain/diagnosis.js';
import { AxError, messageOf } from '../../domain/errors.js';
import { type Clock } from '../../ports/clock.js';
import { type Examination } from '../../ports/examination.js';
import { type SqlDb } from '../sql/sql-db.js';
import { assertVersion, isReadOnly, readServer, type ServerRow } from './assert-mysql-fit.js';

/** The server: whether it can be reached, is the primary, and tells time as ax expects. */
export class MysqlExamination implements Examination {
  readonly part = 'mysql';

  constructor(
    private readonly db: SqlDb,
    private readonly clock: Clock,
    private readonly clockLimitMs: number,
  ) {}

  async examine(): Promise<Diagnosis[]> {
    let server: ServerRow;
    try {
      server = await readServer(this.db);
      assertVersion(server.version);
    } catch (error) {
      return [problem('mysql_server', messageOf(error), 'see that MySQL runs, and AX_MYSQL_URL')];
    }
    return [
      ok('mysql_server', `version ${server.version}`),
      await this.primary(server),
      await this.session(),
      await this.serverClock(),
    ];
  }

  private async primary(server: ServerRow): Promise<Diagnosis> {
    const fix = 'give the primary in AX_MYSQL_URL';
    if (isReadOnly(server)) return problem('mysql_primary', 'the server is read only', fix);
    const sources = await this.sources();
    if (sources === null)
      return ok('mysql_primary', 'it takes writes; whether it replicates may not be asked');
    if (sources > 0) return problem('mysql_primary', 'the server is a replica of another one', fix);
    return ok('mysql_primary', 'it takes writes and replicates nobody');
  }

  /** Servers that this one replicates; null: not for this user, or not for this version, to know. */
  private async sources(): Promise<number | null> {
    try {
      return (await this.db.read((sql) => sql.rows('SHOW REPLICA STATUS'))).length;
    } catch (error) {
      if (error instanceof AxError && error.code === 'unavailable') throw error;
      return null;
    }
  }

  /** A proxy that hands one session to many may undo what ax has set for its own. */
  private async session(): Promise<Diagnosis> {
    const [row] = await this.db.read((sql) =>
      sql.rows<{ off: number | string; zone: string }>(
        'SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW()) AS off, @@session.time_zone AS zone',
      ),
    );
    if (Number(row?.off) === 0) return ok('mysql_session', 'sessions are in UTC');
    return problem(
      'mysql_session',
      `sessions are in time zone ${row?.zone}, although ax sets +00:00`,
      'let no proxy between ax and MySQL share or reset sessions',
    );
  }

  private async serverClock(): Promise<Diagnosis> {
    const askedAt = this.clock.now();
    const [row] = await this.db.read((sql) => sql.rows<{ now: number }>('SELECT UTC_TIMESTAMP(3) AS now'));
    const answeredAt = this.clock.now();
    const offMs = Math.round((row?.now ?? NaN) - (askedAt + answeredAt) / 2);
    const finding = `${offMs} ms from the time of the cluster`;
    if (Math.abs(offMs) <= this.clockLimitMs + (answeredAt - askedAt)) return ok('mysql_clock', finding);
    return warning('mysql_clock', `${finding}; ax does not use it`, 'mend NTP on the machine of MySQL');
  }
}
