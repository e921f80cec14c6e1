import { type Diagnosis } from '../domain/diagnosis.js';

/** A part of an installation that can be looked at. */
export interface Examination {
  /** Of the part; a diagnosis with this name says that it could not be looked at. */
  readonly part: string;
  /** Reads only. @throws whatever keeps it from looking. */
  examine(): Promise<Diagnosis[]>;
}
