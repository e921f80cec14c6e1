/** The one rule of STYLE: domain → nothing of ours; ports → domain; application → domain, ports; adapters → domain, ports. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^src/', pathNot: allowed },
});

module.exports = {
  forbidden: [
    only(
      'domain-is-pure',
      '^src/domain/',
      ['^src/domain/'],
      'The domain imports nothing of ours but itself.',
    ),
    {
      name: 'domain-takes-pure-libraries-only',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: {
        path: 'node_modules|^node:',
        pathNot: 'node_modules/cronstrue/',
        dependencyTypesNot: ['local'],
      },
    },
    only('ports-know-the-domain', '^src/ports/', ['^src/(domain|ports)/']),
    only('application-knows-no-technology', '^src/application/', ['^src/(application|domain|ports)/']),
    {
      name: 'application-takes-no-library',
      severity: 'error',
      from: { path: '^src/application/' },
      to: { path: 'node_modules|^node:', dependencyTypesNot: ['local'] },
    },
    only(
      'adapters-never-import-each-other',
      '^src/adapters/([^/]+)/',
      ['^src/(domain|ports)/', '^src/adapters/$1/', '^src/adapters/sql/', '^src/application/'],
      'One technology a folder; sql/ is what MySQL and SQLite share.',
    ),
    only('only-sql-dialects-share-sql', '^src/adapters/(?!mysql/|embedded/|sql/)', [
      '^src/(domain|ports|application)/',
      '^src/adapters/(?!sql/)',
    ]),
    only('only-http-knows-the-use-cases', '^src/adapters/(?!http/)', ['^src/(domain|ports|adapters)/']),
    {
      name: 'calendar-packages-load-when-asked',
      comment: 'They cost memory and a tenth of a second, and most processes never fill a calendar.',
      severity: 'error',
      from: { path: '^src/adapters/calendars/offline-calendar-source.ts$' },
      to: { path: '^src/adapters/calendars/', dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'calendars-alone-take-calendar-packages',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/calendars/' },
      to: {
        path: [
          'node_modules/(date-holidays|chinese-days|ical\\.js)/',
          '^src/adapters/calendars/(?!offline-)',
        ],
      },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '\\.d\\.ts$' },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
