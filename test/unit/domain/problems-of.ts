import { type FieldProblem, InvalidInput } from '../../../src/domain/errors.js';

/** The problems that `act` is refused for; throws if it is not refused. */
export function problemsOf(act: () => unknown): readonly FieldProblem[] {
  try {
    act();
  } catch (error) {
    if (error instanceof InvalidInput) return error.problems;
    throw error;
  }
  throw new Error('was not refused');
}
