-- A log of shadowtrace as tables, for DuckDB. It reads the file as it is: plain, .gz or .zst, one or many, whole or cut.
--
--     set variable logs = ['orders.ndjson', 'more-*.ndjson.zst'];
--     .read schema.sql
--
-- Ids are a log's own: every table has the column log (the file), and joins go by (log, id). Logs of two runs are compared
-- by names. Members are those of include/shadowtrace/log_schema.json; what a log does not have is null. So logs of events
-- (--log events, the default), of sites (--log sites) and with inline stacks (--stacks inline) answer the same questions.

-- Each line once; the columns of all kinds that are used below. A line that is no JSON (the last one of a log whose program
-- was killed) is left out; the question `complete` tells what is missing.
create type log_file as enum (select distinct file from glob(getvariable('logs')) order by file);
create or replace table line as
select * exclude (filename), filename::log_file as log
from read_ndjson(getvariable('logs'), filename = true, ignore_errors = true, columns = {
    kind: 'varchar',
    -- header
    pid: 'uinteger', executable: 'varchar', command: 'varchar[]', runtime: 'varchar', started: 'timestamptz',
    -- definitions: module, class, method, thread, node
    id: 'uinteger', name: 'varchar', path: 'varchar', module: 'uinteger', owner: 'varchar', os: 'uinteger', "end": 'bigint',
    parent: 'uinteger', method: 'uinteger', il: 'uinteger', call: 'varchar',
    -- alloc and site
    t: 'bigint', thread: 'uinteger', class: 'uinteger', bytes: 'bigint', node: 'uinteger', il0: 'uinteger', cut: 'boolean',
    heap: 'varchar', weight: 'double', stack: 'varchar[]', type: 'varchar', allocs: 'bigint',
    -- exception, gc, mark, end
    event: 'varchar', message: 'varchar', gc: 'bigint', ns: 'bigint', reason: 'varchar', generations: 'bigint[]',
    before: 'bigint[]', after: 'bigint[]', text: 'varchar', seen: 'bigint', written: 'bigint', lost: 'bigint'})
where kind in ('header', 'module', 'class', 'method', 'thread', 'node', 'alloc', 'site', 'exception', 'gc', 'mark', 'end');

create or replace view process as
select log, pid, executable, command, runtime, started from line where kind = 'header';

create or replace view module as
select log, id, name, path, owner from line where kind = 'module';

create or replace view class as
select log, id, name, module from line where kind = 'class';

-- Instantiations of a generic method are several with one name; same is the first of them.
create or replace view method as
select log, id, name, module, min(id) over (partition by log, name, module) as same from line where kind = 'method';

-- A thread has a line when it is first seen, when it gets a name and when it ends.
create or replace view thread as
select log, id, max(os) as os, max(name) as name, max("end") as "end" from line where kind = 'thread' group by all;

-- A call path: its method, called at il of the method of its parent; 0: called from no managed method.
create or replace view node as
select log, id, parent, method, il, call from line where kind = 'node';

create or replace view mark as
select log, t, text from line where kind = 'mark';

create or replace view exception as
select log, t, thread, event, id, class, message, ns, node from line where kind = 'exception';

create or replace view gc as
select log, t, gc, ns, reason, generations, before, after from line where kind = 'gc';

-- Allocations by whatever the log has: one a line, or sums of a site (then without t). Of a sampled log bytes and allocs
-- are estimates, and sampled says how many events they come from.
create or replace view allocation as
select log, kind, t, thread, class, node, coalesce(il, il0) as il, call, coalesce(cut, false) as cut, coalesce(heap, 'ordinary') as heap,
    stack, type,
    coalesce(weight, bytes)::double as bytes, -- what it stands for
    case when kind = 'alloc' then bytes end as size, -- of the object
    coalesce(allocs, 1) * coalesce(weight / bytes, 1) as allocs,
    coalesce(allocs, 1) as sampled
from line where kind in ('alloc', 'site');

-- The same with names. method is the one that allocates; null: none, the runtime itself allocated.
create or replace view named as
select a.log, a.t, a.thread, coalesce(a.type, c.name) as type, tm.name as type_module,
    case when a.cut then '(path not kept)'
         when a.call = 'dynamic' then '(dynamic method)'
         when a.stack is not null then a.stack[1]
         else m.name end as method,
    case when a.cut or a.call = 'dynamic' then null else mm.name end as module,
    a.node, a.il, a.heap, a.size, a.bytes, a.allocs, a.sampled
from allocation a
left join class c on c.log = a.log and c.id = a.class
left join module tm on tm.log = c.log and tm.id = c.module
left join node n on n.log = a.log and n.id = a.node
left join method m on m.log = n.log and m.id = n.method
left join module mm on mm.log = m.log and mm.id = m.module;

-- Which methods are on the path of a node, each once however often it recurs: what is inclusive is a join with this. Paths
-- as text, joined up by a recursive query, take a hundred times as much.
create or replace view ancestor as
with recursive up as (
    select n.log, n.id as node, n.parent, n.method from node n semi join allocation a on a.log = n.log and a.node = n.id
    union all
    select up.log, up.node, n.parent, n.method from up join node n on n.log = up.log and n.id = up.parent)
select distinct up.log, up.node, m.same as method from up join method m on m.log = up.log and m.id = up.method;

-- What is allocated in each method or below it, by log and method.
create or replace view inside as
select m.name as method, mm.name as module, s.log, s.bytes, s.allocs
from (select log, node, sum(bytes) as bytes, sum(allocs) as allocs from allocation where stack is null group by all) s
join ancestor a on a.log = s.log and a.node = s.node
join method m on m.log = a.log and m.id = a.method
left join module mm on mm.log = m.log and mm.id = m.module
union all
select unnest(list_distinct(stack)), null, log, bytes, allocs from allocation where stack is not null;
