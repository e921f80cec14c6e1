const URL_USER = /([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]*@/gi;
const URL_QUERY = /([a-z][a-z0-9+.-]*:\/\/[^\s?#"'<>]*\?)[^\s#"'<>]*/gi;

/** A text in which users, passwords and queries of URLs are hidden. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(URL_USER, '$1REDACTED:REDACTED@').replaceAll(URL_QUERY, '$1REDACTED');
