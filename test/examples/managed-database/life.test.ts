/**
 * The life of ManagedDatabases: the controller, Curfew and the clean-up of the example, and a real PostgreSQL. Skipped where npm has no
 * binaries of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ADMIN,
  missingForPostgres,
  startPostgres,
  type LocalPostgres,
} from '../../../examples/managed-database/local/postgres.ts';
import { createDatabaseServer } from '../../../examples/managed-database/database-server.ts';
import { FINALIZER } from '../../../examples/managed-database/names.ts';
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { createWorld, type World } from './world.ts';

const missing = missingForPostgres();
const OPERATOR = 'operator';

describe.skipIf(missing !== undefined)(
  `managed-database${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'curfew-managed-database-'));
    let postgres: LocalPostgres;
    let admin: Client;
    let world: World;
    const clients: Client[] = [];

    const connect = async (user: string, database?: string): Promise<Client> => {
      const client = new Client({ connectionString: postgres.url(user, database) });
      clients.push(client);
      await client.connect();
      return client;
    };
    const names = async (query: string): Promise<readonly string[]> =>
      (await admin.query<{ name: string }>(query)).rows.map(({ name }) => name);
    /** Databases and roles that are neither the server's own nor the test's. */
    const found = async (): Promise<readonly string[]> => [
      ...(await names(
        `SELECT 'database ' || datname AS name FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY 1`,
      )),
      ...(await names(
        `SELECT 'role ' || rolname AS name FROM pg_roles WHERE rolname !~ '^pg_' AND rolname NOT IN ('${ADMIN}', '${OPERATOR}') ORDER BY 1`,
      )),
    ];
    const condition = (dbName: string, type: string) => {
      const conditions = world.get(dbName)?.status?.['conditions'];
      return (Array.isArray(conditions) ? conditions : []).find(each => each.type === type);
    };
    const degraded = (message: string) => ({
      type: 'Degraded',
      status: 'True',
      reason: 'FinalizationError',
      message: expect.stringContaining(message),
    });
    /** Nothing is left of it. */
    const expectGone = async (dbName: string): Promise<void> => {
      expect(world.get(dbName)).toBeUndefined();
      expect(await found()).toEqual([]);
    };
    /** One that is there, with its database. */
    const start = async (dbName: string): Promise<void> => {
      world.applyRule();
      world.startController();
      world.create(dbName);
      await world.pass(seconds(10));
      expect(await found()).toEqual([`database ${dbName}`, `role ${dbName}`]);
    };

    beforeAll(async () => {
      postgres = await startPostgres(folder);
      admin = new Client({ connectionString: postgres.url(ADMIN) });
      await admin.connect();
      await admin.query(`CREATE ROLE ${OPERATOR} LOGIN CREATEDB CREATEROLE`);
      vi.stubEnv('DATABASE_URL', postgres.url(OPERATOR));
    });
    beforeEach(() => {
      world = createWorld(postgres.url(OPERATOR));
    });
    afterEach(async () => {
      await Promise.all(clients.splice(0).map(client => client.end().catch(() => undefined)));
      await world.stop();
      // What a test has left.
      await admin.query(`ALTER ROLE ${OPERATOR} CREATEROLE`);
      for (const each of await found()) await admin.query(`DROP ${each}`);
    });
    afterAll(async () => {
      vi.unstubAllEnvs();
      await admin?.end();
      await postgres?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('creates a database with a role of its own, and drops both before the object goes', async () => {
      await start('orders');
      expect(world.get('orders')).toMatchObject({
        metadata: { finalizers: [FINALIZER] },
        status: { externalID: 'orders', endpoint: `127.0.0.1:${postgres.port}/orders` },
      });
      expect(condition('orders', 'Ready')).toMatchObject({ status: 'True', reason: 'Created' });
      expect(
        await names(
          `SELECT rolname AS name FROM pg_database d JOIN pg_roles r ON r.oid = datdba WHERE datname = 'orders'`,
        ),
      ).toEqual(['orders']);

      world.remove('orders');
      await world.pass(seconds(10));
      expect(world.answers).toEqual([{ result: 'succeed', message: 'dropped database orders and role orders' }]);
      await expectGone('orders');
      expect(world.audits.filter(({ decision }) => decision === 'release')).toHaveLength(1);
    });

    it('creates nothing before the finalizer is on', async () => {
      world.startController();
      world.create('early');
      await world.pass(minutes(1));
      expect(await found()).toEqual([]);
      world.applyRule();
      await world.pass(seconds(10));
      expect(await found()).toEqual(['database early', 'role early']);
    });

    it('says on the object why its database cannot be created, and creates it when it can', async () => {
      world.applyRule();
      world.startController();
      await admin.query(`ALTER ROLE ${OPERATOR} NOCREATEROLE`);
      world.create('refused');
      await world.pass(seconds(10));
      expect(condition('refused', 'Ready')).toMatchObject({
        status: 'False',
        reason: 'CreationFailed',
        message: expect.stringContaining('SQLSTATE 42501'),
      });
      await admin.query(`ALTER ROLE ${OPERATOR} CREATEROLE`);
      await world.pass(seconds(10));
      expect(condition('refused', 'Ready')).toMatchObject({ status: 'True', reason: 'Created' });
    });

    it('keeps the object and says why while a permission is missing, and goes on when it is back', async () => {
      await start('billing');
      await admin.query(`ALTER ROLE ${OPERATOR} NOCREATEROLE`);
      world.remove('billing');
      await world.pass(minutes(10));
      expect(world.get('billing')?.metadata.finalizers).toEqual([FINALIZER]);
      expect(condition('billing', 'Degraded')).toMatchObject(
        degraded('permission denied to alter role (SQLSTATE 42501)'),
      );
      expect(condition('billing', 'Ready')).toMatchObject({ status: 'True' });
      expect(await found()).toEqual(['database billing', 'role billing']);
      // After 0, 5, 15, 35, 75, 155 and 315 s; the next one at 615 s.
      expect(world.answers).toHaveLength(7);

      await admin.query(`ALTER ROLE ${OPERATOR} CREATEROLE`);
      await world.pass(minutes(6));
      await expectGone('billing');
    });

    it('does nothing twice when the function dies between the drop and the removal of the finalizer', async () => {
      await start('crash');
      world.dieAfterCleanup();
      world.remove('crash');
      await world.pass(seconds(10));
      expect(await found()).toEqual([]);
      expect(world.get('crash')?.metadata.finalizers).toEqual([FINALIZER]);
      await world.pass(minutes(5));
      await expectGone('crash');
      expect(world.answers).toEqual([
        { result: 'succeed', message: 'dropped database crash and role crash' },
        { result: 'notFound', message: 'there is nothing of crash' },
      ]);
      expect(world.audits.map(({ decision }) => decision)).not.toContain('orphan');
    });

    it('has nothing to do for a database that never existed', async () => {
      world.applyRule();
      world.create('never');
      await world.pass(seconds(10));
      world.remove('never');
      await world.pass(seconds(10));
      expect(world.get('never')).toBeUndefined();
      expect(world.answers).toMatchObject([{ result: 'notFound' }]);
    });

    it('drops a database that is in use', async () => {
      await start('busy');
      const user = await connect('busy', 'busy');
      const ended = new Promise<NodeJS.ErrnoException>(resolve => user.on('error', resolve));
      await user.query('CREATE TABLE t (i int)');
      world.remove('busy');
      await world.pass(seconds(10));
      await expectGone('busy');
      expect(await ended).toMatchObject({ code: '57P01' });
    });

    it('waits for a superuser who is connected', async () => {
      await start('inspected');
      const inspector = await connect(ADMIN, 'inspected');
      world.remove('inspected');
      await world.pass(seconds(10));
      expect(condition('inspected', 'Degraded')).toMatchObject(degraded('permission denied to terminate process'));
      await inspector.end();
      await world.pass(minutes(1));
      await expectGone('inspected');
    });

    it('keeps what the role owns in other databases, as its own from then on', async () => {
      const operator = await connect(OPERATOR);
      await operator.query('CREATE DATABASE reports');
      const reports = await connect(OPERATOR, 'reports');
      world.applyRule();
      world.startController();
      world.create('sales');
      await world.pass(seconds(10));
      await reports.query('GRANT CREATE ON SCHEMA public TO sales');
      const sales = await connect('sales', 'reports');
      await sales.query('CREATE TABLE kept (i int)');
      await sales.end();

      world.remove('sales');
      await world.pass(seconds(10));
      expect(world.get('sales')).toBeUndefined();
      const { rows } = await reports.query(`SELECT tableowner FROM pg_tables WHERE tablename = 'kept'`);
      expect(rows).toEqual([{ tableowner: OPERATOR }]);
      expect(await found()).toEqual(['database reports']);
    });

    it('says what holds a role: rights that somebody else granted', async () => {
      await start('granted');
      await admin.query('GRANT CREATE ON SCHEMA public TO granted');
      world.remove('granted');
      await world.pass(seconds(10));
      expect(condition('granted', 'Degraded')).toMatchObject(degraded('privileges for schema public'));
      expect(await found()).toEqual(['role granted']);
      await admin.query('REVOKE CREATE ON SCHEMA public FROM granted');
      await world.pass(minutes(1));
      await expectGone('granted');
    });

    it("touches nobody else's database of the same name", async () => {
      await admin.query('CREATE DATABASE legacy');
      world.applyRule();
      world.startController();
      world.create('legacy');
      await world.pass(seconds(10));
      expect(condition('legacy', 'Ready')).toMatchObject({ status: 'False', reason: 'NameTaken' });
      world.remove('legacy');
      await world.pass(seconds(10));
      expect(world.get('legacy')).toBeUndefined();
      expect(await found()).toEqual(['database legacy']);
    });

    it('notices that somebody took the finalizer off, and what that leaves behind', async () => {
      await start('stripped');
      await admin.query(`ALTER ROLE ${OPERATOR} NOCREATEROLE`);
      world.remove('stripped');
      await world.pass(seconds(3));
      world.strip('stripped');
      await world.pass(minutes(1));
      expect(world.get('stripped')).toBeUndefined();
      expect(world.audits.filter(({ decision }) => decision === 'orphan')).toMatchObject([{ name: 'stripped' }]);
      expect(await found()).toEqual(['database stripped', 'role stripped']);
    });

    it('creates nothing after its clean-up, and cleans up what is being created', async () => {
      const server = createDatabaseServer(postgres.url(OPERATOR));
      expect(await server.create('late', 'late', async () => false)).toBe('unwanted');
      const looked = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const creation = server.create('slow', 'slow', async () => {
        looked.resolve();
        await goOn.promise;
        return true;
      });
      await looked.promise;
      const drop = server.drop('slow');
      const first = await Promise.race([drop.then(() => 'drop'), creation.then(() => 'creation'), queue(goOn)]);
      expect(first).toBe('creation');
      expect(await drop).toEqual(['database slow', 'role slow']);
      expect(await found()).toEqual([]);
      expect(await found()).toEqual([]);
    });

    /** Lets the creation go on once the drop waits for it. */
    async function queue(goOn: PromiseWithResolvers<void>): Promise<never> {
      const waiting = `SELECT pid::text AS name FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
      while ((await names(waiting)).length === 0);
      goOn.resolve();
      return await new Promise<never>(() => undefined);
    }
  },
);
