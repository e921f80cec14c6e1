import { mkdir, writeFile } from 'node:fs/promises';
import { DASHBOARDS } from './dashboards.js';

const folder = process.argv[2] ?? 'deploy/grafana/dashboards';
await mkdir(folder, { recursive: true });
for (const [name, text] of DASHBOARDS) await writeFile(`${folder}/${name}`, text);
process.stdout.write(`${[...DASHBOARDS.keys()].join(', ')} written to ${folder}\n`);
