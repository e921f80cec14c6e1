import express, { type Express, type RequestHandler } from 'express';
import { type UseCases } from '../../application/use-cases.js';
import { type Clock } from '../../ports/clock.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { calendarRoutes } from './calendar-routes.js';
import { doctorRoutes } from './doctor-routes.js';
import { executionRoutes } from './execution-routes.js';
import { forecastRoutes } from './forecast-routes.js';
import { type MetricsText, processRoutes } from './process-routes.js';
import { receiptRoutes } from './receipt-routes.js';
import { requireToken } from './require-token.js';
import { answerError, refusePath, routeOf, serveRoutes } from './serve-routes.js';
import { scheduleRoutes } from './schedule-routes.js';
import { statsRoutes } from './stats-routes.js';
import { taskRoutes } from './task-routes.js';
import { verifyRoutes } from './verify-routes.js';
import { whyRoutes } from './why-routes.js';
import { workerRoutes } from './worker-routes.js';

/**
 * The HTTP surface of one process (docs/api.md). Without use cases, as in a worker, it serves only health, readiness and metrics.
 */
export function createHttpApp(parts: {
  readonly useCases: Omit<UseCases, 'readiness'> | null;
  readonly readiness: UseCases['readiness'];
  /** `accept`: the forms that the scraper takes. */
  readonly exposition: (accept: string) => Promise<MetricsText>;
  readonly metrics: Metrics;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
}): Express {
  const { useCases, readiness, exposition, metrics, clock, logger } = parts;
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  app.use(measureRequests(metrics, clock), protectAnswers);
  app.use(serveRoutes('', processRoutes(readiness, exposition)));
  if (useCases !== null) {
    app.use('/api', serveRoutes('/api', receiptRoutes(useCases)));
    const routes = [
      ...taskRoutes(useCases),
      ...scheduleRoutes(useCases),
      ...calendarRoutes(useCases),
      ...executionRoutes(useCases),
      ...statsRoutes(useCases),
      ...workerRoutes(useCases),
      ...forecastRoutes(useCases),
      ...verifyRoutes(useCases),
      ...doctorRoutes(useCases),
      ...whyRoutes(useCases),
    ];
    app.use('/api', serveRoutes('/api', routes, [requireToken(useCases.authenticate)]));
  }
  app.use(refusePath);
  app.use(answerError(logger));
  return app;
}

const protectAnswers: RequestHandler = (_req, res, next) => {
  res.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
  next();
};

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE']);

/** Observes every request once, also those whose caller went away before the end. */
const measureRequests =
  (metrics: Metrics, clock: Pick<Clock, 'monotonicMs'>): RequestHandler =>
  (req, res, next) => {
    const startedAt = clock.monotonicMs();
    res.once('close', () => {
      const method = METHODS.has(req.method) ? req.method : 'other';
      const status = res.writableFinished ? String(res.statusCode) : 'aborted';
      const seconds = (clock.monotonicMs() - startedAt) / 1000;
      metrics.observe('http_request_duration_seconds', { method, route: routeOf(res), status }, seconds);
    });
    next();
  };
