import { OfflineCalendarSource } from '../../src/adapters/calendars/offline-calendar-source.js';
import { calendarSourceSuite } from './calendar-source.suite.js';

calendarSourceSuite('offline', () => new OfflineCalendarSource({ now: () => Date.parse('2026-11-29') }));
