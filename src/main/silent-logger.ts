import { type Logger } from '../ports/logger.js';

/** For commands that tell in their answer what went wrong. */
export const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
