/** On whose behalf a use case runs. */
export interface Actor {
  /** Goes into the audit log. */
  readonly name: string;
  /** The caller's W3C traceparent, which a manual run continues. */
  readonly traceparent: string | null;
}
