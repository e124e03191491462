/** Runs one statement as the superuser of `npm start -- --example managed-database`, a line of JSON for each row: `node …/sql.ts STATEMENT`. */
import { Client } from 'pg';
import { describeDatabaseError } from './database-server.ts';

const [statement] = process.argv.slice(2);
const { DATABASE_URL: url } = process.env;
if (statement === undefined || url === undefined) {
  process.stderr.write('give one statement; DATABASE_URL must name the server, as npm start prints it\n');
  process.exit(2);
}
const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
client.on('error', () => undefined);
try {
  await client.connect();
  const { rows, command } = await client.query<Record<string, unknown>>(statement);
  for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
  if (rows.length === 0) process.stdout.write(`${command}\n`);
} catch (error) {
  process.stderr.write(`${describeDatabaseError(error)}\n`);
  process.exitCode = 1;
} finally {
  await client.end();
}
