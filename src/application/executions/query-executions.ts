import { AxError } from '../../domain/errors.js';
import { type Execution, type LedgerEntry } from '../../domain/execution.js';
import { type ExecutionFilter, type ExecutionRepo } from '../../ports/execution-repo.js';
import { type Page, type PageRequest } from '../../ports/task-repo.js';

/** Reads executions with their attempts and ledger. */
export class QueryExecutions {
  constructor(private readonly deps: { readonly executions: ExecutionRepo }) {}

  /** Newest first. */
  async list(filter: ExecutionFilter, page: PageRequest): Promise<Page<Execution>> {
    return this.deps.executions.list(filter, page);
  }

  /** @throws AxError `not_found`. */
  async find(id: string): Promise<{ execution: Execution; ledger: readonly LedgerEntry[] }> {
    const found = await this.deps.executions.find(id);
    if (found === null) throw new AxError('not_found', `there is no execution ${id}`);
    return found;
  }
}
