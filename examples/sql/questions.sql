-- Questions to the tables of schema.sql. `run.cjs NAME` asks one; each can be pasted into DuckDB as it stands.
-- bytes and allocs are sums of what is recorded; of sampled logs they are estimates (see `complete`).

-- types: which types are most of the bytes?
select round(sum(bytes))::bigint as bytes, round(sum(allocs))::bigint as allocs,
    round(100 * sum(bytes) / sum(sum(bytes)) over (), 1) as percent, type, type_module as module
from named group by type, type_module order by bytes desc, type;

-- methods: which methods allocate most, themselves?
select round(sum(bytes))::bigint as bytes, round(sum(allocs))::bigint as allocs, method, module
from named group by method, module order by bytes desc, method;

-- inclusive: which methods allocate most, with all that they call?
select round(sum(bytes))::bigint as bytes, round(sum(allocs))::bigint as allocs, method, module
from inside group by method, module order by bytes desc, method;

-- modules: whose code allocates? (owner: own, package or framework; null in logs of version 0.1.0)
select round(sum(n.bytes))::bigint as bytes, round(sum(n.allocs))::bigint as allocs, n.module, any_value(m.owner) as owner
from named n left join module m on m.log = n.log and m.name = n.module
group by n.module order by bytes desc, n.module;

-- threads: which threads allocate?
select round(sum(a.bytes))::bigint as bytes, round(sum(a.allocs))::bigint as allocs, a.log, a.thread, any_value(t.os) as os,
    any_value(t.name) as name
from allocation a left join thread t on t.log = a.log and t.id = a.thread
group by a.log, a.thread order by bytes desc, a.log, a.thread;

-- minutes: how much in each minute, by the clock on the wall?
select time_bucket(interval '1 minute', started + to_microseconds(t // 1000)) at time zone 'UTC' as minute,
    round(sum(bytes))::bigint as bytes, round(sum(allocs))::bigint as allocs,
    round(sum(bytes) / 60)::bigint as bytes_per_second
from allocation join process using (log) where t is not null group by minute order by minute;

-- rate: when was it busiest? The ten tenths of a second with most bytes, and the type that was most of each.
with slice as (select log, t // 100000000 as tenth, type, sum(bytes) as bytes, sum(allocs) as allocs
               from named where t is not null group by all)
select log, tenth / 10 as second, round(sum(bytes))::bigint as bytes, round(sum(allocs))::bigint as allocs,
    round(10 * sum(bytes))::bigint as bytes_per_second, arg_max(type, bytes) as most
from slice group by log, tenth order by bytes desc, log, tenth limit 10;

-- largest: which single objects are the largest, and who makes them? (of events, not of --log sites)
select size as bytes, type, heap, method, il, round(t / 1e9, 3) as second, log
from named where size is not null order by size desc, log, t limit 20;

-- heaps: what lies on the heaps of large, pinned and frozen objects?
select heap, round(sum(bytes))::bigint as bytes, round(sum(allocs))::bigint as allocs, arg_max(type, bytes) as most
from (select heap, type, sum(bytes) as bytes, sum(allocs) as allocs from named group by all)
group by heap order by bytes desc;

-- sites: where is a type made, to the instruction, and who calls there? (--set type=…)
select round(sum(n.bytes))::bigint as bytes, round(sum(n.allocs))::bigint as allocs, n.method, n.il, cm.name as caller, k.il as caller_il
from named n
left join node k on k.log = n.log and k.id = n.node
left join node c on c.log = k.log and c.id = k.parent
left join method cm on cm.log = c.log and cm.id = c.method
where n.type = coalesce(getvariable('type'), (select type from named group by type order by sum(bytes) desc, type limit 1))
group by n.method, n.il, caller, caller_il order by bytes desc, n.method, n.il, caller, caller_il;

-- path: by which path is most of a type made? One row a frame, the innermost first. (--set type=…)
with recursive hottest as (
    select log, node from named
    where type = coalesce(getvariable('type'), (select type from named group by type order by sum(bytes) desc, type limit 1)) and node > 0 group by log, node order by sum(bytes) desc, log, node limit 1),
frame as (
    select 0 as frame, n.* from node n join hottest h on h.log = n.log and h.node = n.id
    union all
    select frame + 1, p.* from frame f join node p on p.log = f.log and p.id = f.parent)
select frame, m.name as method, f.il as called_at
from frame f join method m on m.log = f.log and m.id = f.method order by frame;

-- marks: what was allocated between two marks? (--set from=… --set to=…)
with bounds as (
    select p.log, (select min(t) from mark m where m.log = p.log and m.text = getvariable('from')) as first,
        (select min(t) from mark m where m.log = p.log and m.text = getvariable('to')) as last from process p)
select round(sum(bytes))::bigint as bytes, round(sum(allocs))::bigint as allocs, type
from named join bounds using (log)
where t > coalesce(first, -1) and t < coalesce(last, 9223372036854775807) group by type order by bytes desc, type;

-- builds: which types grew from one build to the next? By names: ids are a log's own. (--old LOG)
with side as (
    select type, list_contains(getvariable('old'), log) as is_old, sum(bytes) as bytes, sum(allocs) as allocs from named group by all),
both_sides as (
    select type, coalesce(sum(bytes) filter (is_old), 0) as old_bytes, coalesce(sum(bytes) filter (not is_old), 0) as new_bytes,
        coalesce(sum(allocs) filter (is_old), 0) as old_allocs, coalesce(sum(allocs) filter (not is_old), 0) as new_allocs
    from side group by type)
select round(new_bytes - old_bytes)::bigint as grew, round(old_bytes)::bigint as old_bytes, round(new_bytes)::bigint as new_bytes,
    round(new_allocs - old_allocs)::bigint as more, type
from both_sides where new_bytes <> old_bytes or new_allocs <> old_allocs order by abs(grew) desc, type;

-- collections: what did the collector do? (record --events alloc,gc)
select gc, round(t / 1e9, 3) as second, list_max(generations) as generation, reason, round(ns / 1e6, 2) as ms,
    list_sum(before) as before, list_sum(after) as after
from gc order by log, t;

-- exceptions: which were thrown, how often, and in which method? (record --events alloc,exceptions)
select count(*) as thrown, c.name as type, m.name as method, any_value(e.message) as message
from exception e
left join class c on c.log = e.log and c.id = e.class
left join node n on n.log = e.log and n.id = e.node
left join method m on m.log = n.log and m.id = n.method
where e.event = 'thrown' group by all order by thrown desc, type, method;

-- complete: does each log hold all that was to be recorded, and is it exact?
select l.log, count(*) filter (kind = 'end') = 1 as ended, coalesce(sum(lost), 0) as lost,
    coalesce(sum(coalesce(allocs, 1)) filter (kind in ('alloc', 'site')), 0) = sum(written) as all_here,
    bool_or(weight is not null) as sampled
from line l group by l.log order by l.log;
