import { type ExamineInstallation } from '../../application/doctor/examine-installation.js';
import { type Diagnosis } from '../../domain/diagnosis.js';
import { NO_QUERY } from './list-query.js';
import { route, type Route } from './route.js';

/** How the installation is. */
export function doctorRoutes(useCases: { readonly examineInstallation: ExamineInstallation }): Route[] {
  return [
    route({
      method: 'get',
      path: '/doctor',
      query: NO_QUERY,
      handle: async () => ({ status: 200, json: doctorJson(await useCases.examineInstallation.examine()) }),
    }),
  ];
}

/** The JSON of an examination. */
export const doctorJson = (checks: readonly Diagnosis[]) => ({
  problems: checks.filter(({ state }) => state === 'problem').length,
  warnings: checks.filter(({ state }) => state === 'warning').length,
  checks,
});
