/**
 * Databases on a PostgreSQL server (16 or newer), each with a role of the same name that owns it. The role carries the UID of its
 * ManagedDatabase as a comment, written in one transaction with the role: what has no such comment is somebody else's and is never
 * touched, and what was created is found again whatever the ManagedDatabase's status says.
 *
 * The user of the connection needs CREATEDB and CREATEROLE, and is no superuser.
 */
import { Client, DatabaseError, escapeIdentifier as name, escapeLiteral } from 'pg';

export interface DatabaseServer {
  /** Answers once database and role are there, or that the name belongs to something else. */
  create(uid: string, dbName: string, isWanted: () => Promise<boolean>): Promise<'created' | 'taken' | 'unwanted'>;
  /**
   * Drops the database with all its connections, and the role. What the role owns in other databases is kept and belongs to the user of
   * this connection from then on. Answers the names of what it dropped, none when there was nothing.
   */
  drop(uid: string): Promise<readonly string[]>;
}

/** Milliseconds. The statement ends on the server before the client gives it up. */
const LIMITS = { connectionTimeoutMillis: 5000, statement_timeout: 10_000, query_timeout: 12_000 } as const;

/** SQLSTATEs of a role and of a database that are there already. */
const TAKEN: ReadonlySet<string | undefined> = new Set(['42710', '42P04']);

/** @param url of the server's maintenance database: `postgres://USER:PASSWORD@HOST:PORT/postgres` */
export function createDatabaseServer(url: string): DatabaseServer {
  return {
    create: (uid, dbName, isWanted) =>
      alone(url, uid, async client => {
        // Under the lock: a clean-up either has not begun and finds what is made here, or is over and this does not begin.
        if (!(await isWanted())) return 'unwanted';
        try {
          if (!(await rolesOf(client, uid)).includes(dbName)) await createRole(client, uid, dbName);
          if (!(await databasesOf(client, dbName)).includes(dbName)) {
            await client.query(`CREATE DATABASE ${name(dbName)} OWNER ${name(dbName)}`);
          }
          return 'created';
        } catch (error) {
          if (error instanceof DatabaseError && TAKEN.has(error.code)) return 'taken';
          throw error;
        }
      }),

    drop: uid =>
      alone(url, uid, async client => {
        const dropped: string[] = [];
        for (const role of await rolesOf(client, uid)) {
          // Nobody comes back in while the rest goes.
          await client.query(`ALTER ROLE ${name(role)} NOLOGIN`);
          for (const database of await databasesOf(client, role)) {
            await client.query(`DROP DATABASE IF EXISTS ${name(database)} WITH (FORCE)`);
            dropped.push(`database ${database}`);
          }
          for (const database of await databasesWith(client, role)) await giveUp(url, database, role);
          await client.query(`DROP ROLE IF EXISTS ${name(role)}`);
          dropped.push(`role ${role}`);
        }
        return dropped;
      }),
  };
}

async function createRole(client: Client, uid: string, role: string): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`CREATE ROLE ${name(role)} LOGIN`);
    await client.query(`COMMENT ON ROLE ${name(role)} IS ${escapeLiteral(markOf(uid))}`);
    // Who may create a role may drop it, but not make it own something.
    await client.query(`GRANT ${name(role)} TO CURRENT_USER WITH INHERIT TRUE, SET TRUE`);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

const markOf = (uid: string): string => `ManagedDatabase ${uid}`;

/** Roles with the mark of a ManagedDatabase. */
async function rolesOf(client: Client, uid: string): Promise<readonly string[]> {
  const query = `SELECT rolname AS name FROM pg_roles WHERE shobj_description(oid, 'pg_authid') = $1`;
  return namesIn(client, query, markOf(uid));
}

async function databasesOf(client: Client, role: string): Promise<readonly string[]> {
  return namesIn(
    client,
    'SELECT datname AS name FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba WHERE rolname = $1',
    role,
  );
}

/** The databases in which a role owns something or has rights, and the one of this connection, for rights on what all share. */
async function databasesWith(client: Client, role: string): Promise<readonly string[]> {
  const query = `
    SELECT datname AS name FROM pg_database WHERE datname = current_database() OR oid IN (
      SELECT dbid FROM pg_shdepend
      WHERE refclassid = 'pg_authid'::regclass AND refobjid = (SELECT oid FROM pg_roles WHERE rolname = $1))`;
  return namesIn(client, query, role);
}

async function namesIn(client: Client, query: string, parameter: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(query, [parameter]);
  return rows.map(row => row.name);
}

/** What the role owns there goes to the user of the connection, then its rights end. */
async function giveUp(url: string, database: string, role: string): Promise<void> {
  const there = new URL(url);
  there.pathname = `/${encodeURIComponent(database)}`;
  await connected(there.href, async client => {
    await client.query('BEGIN');
    await client.query(`REASSIGN OWNED BY ${name(role)} TO CURRENT_USER`);
    await client.query(`DROP OWNED BY ${name(role)}`);
    await client.query('COMMIT');
  });
}

/** One at a time for each ManagedDatabase, on the whole server. The lock ends with the connection. */
function alone<T>(url: string, uid: string, work: (client: Client) => Promise<T>): Promise<T> {
  return connected(url, async client => {
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [markOf(uid)]);
    return await work(client);
  });
}

async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'managed-database', ...LIMITS });
  // A connection that is lost fails the statement at work; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** SQLSTATE, message and detail, as its reader needs them; never a password. */
export function describeDatabaseError(error: unknown): string {
  if (!(error instanceof DatabaseError)) return error instanceof Error ? error.message : String(error);
  const { code, message, detail } = error;
  return [code === undefined ? message : `${message} (SQLSTATE ${code})`, detail].filter(Boolean).join(': ');
}
