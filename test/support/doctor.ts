import { expect } from 'vitest';
import { ExamineInstallation } from '../../src/application/doctor/examine-installation.js';
import { type Diagnosis } from '../../src/domain/diagnosis.js';
import { type Examination } from '../../src/ports/examination.js';

/** What some examinations find, by check. */
export async function lookAt(...examinations: readonly Examination[]) {
  const found = await new ExamineInstallation(examinations).examine();
  return Object.fromEntries(found.map((diagnosis) => [diagnosis.check, diagnosis]));
}
/** A diagnosis with these words in what it found; only what is not ok says what to do. */
export const matching = (state: Diagnosis['state'], finding: string) => ({
  state,
  finding: expect.stringContaining(finding) as string,
  fix: state === 'ok' ? null : (expect.any(String) as string),
});
