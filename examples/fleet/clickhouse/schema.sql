-- Tables for rows of many recordings, for ClickHouse 18.16 (Debian's) and every later one. Version 3 of this schema; `load`
-- makes it, and `load --migrate` brings earlier ones to it. newer.sql has what newer servers can beside it: codecs, retention.
--
-- Rows are inserted into `row`, which keeps nothing: materialized views hand each to the table of its kind. They add nothing
-- up, for what is inserted twice would count twice in a sum; ReplacingMergeTree makes one row of a key, some time later. Sums
-- are made by roll.sql, one day of some recordings at a time, of what has one row for each key already.

create table if not exists version (version UInt32, at DateTime default now()) engine = MergeTree order by version;

-- One row of what `shadowtrace export --format rows` and `shadowtrace ship` write: members of all kinds.
create table if not exists row (
    kind String, id UUID,
    host String, container String, program String, mvid String, version String, file_version String, `commit` String,
    started String, duration_ns UInt64, pid UInt32, runtime String, timed UInt8, bucket_s UInt32, estimated UInt8,
    complete UInt8, lost UInt64, live_bytes UInt64, live_allocs UInt64, format_version UInt32,
    name String, module String, owner String, method UUID, il Nullable(UInt32), file String, line UInt32, filter UInt8,
    parent UUID, frame UUID, depth UInt32, own UUID, methods Array(UUID), left_out UInt32,
    recording UUID, stack UUID, type UUID, minute UInt32, bytes UInt64, allocs UInt64,
    bytes_variance Float64, allocs_variance Float64, seen_bytes UInt64, seen_allocs UInt64
) engine = Null;

-- Of a recording that came several times the furthest stays; and, with its version, the furthest that knew it: once a program
-- is replaced, nobody can tell any more which version its logs are of. loaded: by the clock of this server.
create table if not exists recordings (
    id UUID, host String, container String, program String, mvid String, version String, file_version String,
    `commit` String, started DateTime, duration_ns UInt64, pid UInt32, runtime String, timed UInt8, estimated UInt8,
    complete UInt8, lost UInt64, bytes UInt64, allocs UInt64, live_bytes UInt64, live_allocs UInt64, loaded DateTime
) engine = ReplacingMergeTree(allocs) order by (id, version);
create materialized view if not exists to_recordings to recordings as
select id, host, container, program, mvid, version, file_version, `commit`,
    toDateTime(substring(started, 1, 19), 'UTC') as started, duration_ns, pid, runtime, timed, estimated, complete, lost,
    bytes, allocs, live_bytes, live_allocs, now() as loaded
from row where kind = 'recording';

create table if not exists methods (id UUID, name String, module String, owner String)
engine = ReplacingMergeTree order by id;
create materialized view if not exists to_methods to methods as
select id, name, module, owner from row where kind = 'method';

create table if not exists types (id UUID, name String, module String) engine = ReplacingMergeTree order by id;
create materialized view if not exists to_types to types as select id, name, module from row where kind = 'type';

create table if not exists frames (id UUID, method UUID, il Nullable(UInt32), file String, line UInt32, filter UInt8)
engine = ReplacingMergeTree order by id;
create materialized view if not exists to_frames to frames as
select id, method, il, file, line, filter from row where kind = 'frame';

create table if not exists stacks (id UUID, parent UUID, frame UUID, depth UInt32)
engine = ReplacingMergeTree order by id;
create materialized view if not exists to_stacks to stacks as
select id, parent, frame, depth from row where kind = 'stack';

-- Of stacks on which something was allocated: the methods, each once, and the innermost frame of own code (all zeros: none).
create table if not exists ancestors (stack UUID, own UUID, methods Array(UUID), left_out UInt32)
engine = ReplacingMergeTree order by stack;
create materialized view if not exists to_ancestors to ancestors as
select stack, own, methods, left_out from row where kind = 'ancestors';

create table if not exists allocated (
    recording UUID, minute DateTime, stack UUID, type UUID, bytes UInt64, allocs UInt64, bytes_variance Float64,
    allocs_variance Float64, seen_bytes UInt64, seen_allocs UInt64
) engine = ReplacingMergeTree(allocs) partition by toYYYYMM(minute) order by (recording, minute, stack, type);
create materialized view if not exists to_allocated to allocated as
select recording, toDateTime(minute) as minute, stack, type, bytes, allocs, bytes_variance, allocs_variance, seen_bytes,
    seen_allocs
from row where kind = 'allocated';

create table if not exists alive (recording UUID, stack UUID, type UUID, bytes UInt64, allocs UInt64, loaded DateTime)
engine = ReplacingMergeTree(loaded) order by (recording, stack, type);
create materialized view if not exists to_alive to alive as
select recording, stack, type, bytes, allocs, now() as loaded from row where kind = 'alive';

-- Of which days of a recording rows came, and when the last of them did, by the clock of this server.
create table if not exists touched (recording UUID, day Date, loaded DateTime)
engine = ReplacingMergeTree(loaded) order by (recording, day);
create materialized view if not exists to_touched to touched as
select distinct recording, toDate(toDateTime(minute), 'UTC') as day, now() as loaded from row where kind = 'allocated';

-- Amounts, one row for each key, whether the parts are merged yet or not. Of estimates what the furthest sum says.
create view if not exists amounts as
select recording, minute, stack, type, max(b) as bytes, max(a) as allocs, argMax(v, a) as bytes_variance, max(s) as seen_bytes
from (
    select recording, minute, stack, type, bytes as b, allocs as a, bytes_variance as v, seen_bytes as s from allocated)
group by recording, minute, stack, type;

-- ---- sums, by recording and day ----

-- roll: which run of roll.sql made a row. Only rows of the newest run of a recording's day count (`newest`); what older ones had
-- is replaced as the parts are merged. at: when that run began to read.
create table if not exists rolled (recording UUID, day Date, roll UInt64, at DateTime)
engine = ReplacingMergeTree(roll) order by (recording, day);

-- Of a method, with all that it calls.
create table if not exists inclusive (recording UUID, day Date, method UUID, bytes UInt64, allocs UInt64, roll UInt64)
engine = ReplacingMergeTree(roll) order by (recording, day, method);

-- By the type, the method that allocates, and the line of own code that is nearest.
create table if not exists made (
    recording UUID, day Date, type UUID, method UUID, own UUID, bytes UInt64, allocs UInt64, bytes_variance Float64,
    seen_bytes UInt64, roll UInt64
) engine = ReplacingMergeTree(roll) order by (recording, day, type, method, own);

create table if not exists by_minute (recording UUID, day Date, minute DateTime, bytes UInt64, allocs UInt64, roll UInt64)
engine = ReplacingMergeTree(roll) order by (recording, day, minute);

create view if not exists newest as select recording, day, max(roll) as roll from rolled group by recording, day;
create view if not exists inclusive_now as
select recording, day, method, bytes, allocs from inclusive
where (recording, day, roll) in (select recording, day, roll from newest);
create view if not exists made_now as
select recording, day, type, method, own, bytes, allocs, bytes_variance, seen_bytes from made
where (recording, day, roll) in (select recording, day, roll from newest);
create view if not exists by_minute_now as
select recording, minute, bytes, allocs from by_minute
where (recording, day, roll) in (select recording, day, roll from newest);

-- Recordings, each once.
create view if not exists recording as
select id, argMax(h, a) as host, argMax(c, a) as container, argMax(p, a) as program, argMax(m, a) as mvid, max(v) as version,
    max(f) as file_version, max(k) as `commit`, any(s) as started, max(d) as duration_ns, any(i) as pid, any(r) as runtime,
    any(t) as timed, any(e) as estimated, max(o) as complete, max(l) as lost, max(b) as bytes, max(a) as allocs, min(n) as loaded
from (
    select id, host as h, container as c, program as p, mvid as m, version as v, file_version as f, `commit` as k, started as s,
        duration_ns as d, pid as i, runtime as r, timed as t, estimated as e, complete as o, lost as l, bytes as b, allocs as a,
        loaded as n
    from recordings)
group by id;
