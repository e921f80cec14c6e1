const USER = /:\/\/[^\s/?#@]*@/g;
const REST_AND_QUERY = /(:\/\/[^\s?#"'<>]*)(\?[^\s#"'<>]*)?/g;

/**
 * A text in which users, passwords and queries of URLs are hidden. Takes time in proportion to its length, whatever it is: it may be what
 * a target said.
 */
export const withoutSecrets = (text: string): string =>
  text
    .replaceAll(USER, '://REDACTED:REDACTED@')
    .replaceAll(REST_AND_QUERY, (_, rest: string, query?: string) =>
      query === undefined ? rest : `${rest}?REDACTED`,
    );
