/** The finer detail beside a status. Statuses never grow; this list may. */
export type Reason =
  // what a target did
  | 'http_status'
  | 'redirect'
  | 'network'
  | 'connect'
  | 'dns'
  | 'tls'
  | 'deadline'
  // what ax decided
  | 'cancelled'
  | 'drained'
  | 'claim_lost'
  | 'queue_lost'
  | 'outcome_unknown'
  | 'overlap'
  | 'misfire'
  | 'duplicate'
  | 'deleted'
  // what broke
  | 'unsupported_executor'
  | 'internal_error';
