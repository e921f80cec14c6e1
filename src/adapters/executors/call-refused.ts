import { type Evidence } from '../../domain/execution.js';
import { type Reason } from '../../domain/reason.js';

/** A call that ax itself does not make; nothing was sent. */
export class CallRefused extends Error {
  constructor(
    readonly reason: Extract<Reason, 'egress_denied' | 'configuration'>,
    message: string,
    readonly evidence: Evidence,
  ) {
    super(message);
    this.name = 'CallRefused';
  }
}
