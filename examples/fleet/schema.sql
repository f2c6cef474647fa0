-- Rows of many recordings as tables, for DuckDB: what `shadowtrace export --format rows` wrote, plain, .gz or .zst.
--
--     set variable logs = ['rows/*.ndjson.zst'];
--     .read schema.sql
--
-- Members are those of include/shadowtrace/rows_schema.json. Ids are the same in all files, so a file that is loaded twice
-- changes nothing, and one that was exported again when its log had grown takes the place of the earlier one: its sums are
-- not smaller, and what a key has is the largest.

create or replace table row as
from read_ndjson(getvariable('logs'), columns = {
    kind: 'varchar', id: 'uuid',
    -- recording
    format_version: 'uinteger', host: 'varchar', container: 'varchar', program: 'varchar', mvid: 'varchar',
    version: 'varchar', file_version: 'varchar', "commit": 'varchar', started: 'timestamptz', duration_ns: 'bigint',
    pid: 'uinteger', runtime: 'varchar', timed: 'boolean', bucket_s: 'uinteger', estimated: 'boolean', complete: 'boolean',
    lost: 'bigint', live_bytes: 'bigint', live_allocs: 'bigint',
    -- definitions
    name: 'varchar', module: 'varchar', owner: 'varchar', method: 'uuid', il: 'uinteger', file: 'varchar', line: 'uinteger',
    parent: 'uuid', frame: 'uuid', depth: 'uinteger', own: 'uuid', methods: 'uuid[]',
    -- amounts
    recording: 'uuid', stack: 'uuid', type: 'uuid', minute: 'bigint', bytes: 'bigint', allocs: 'bigint',
    bytes_variance: 'double', allocs_variance: 'double', seen_bytes: 'bigint', seen_allocs: 'bigint'});

-- Of a recording that was exported several times the furthest. ahead: how much its last minute lies behind the time of
-- loading, by which its host's clock is fast, at least; a clock that is slow cannot be seen.
create or replace table recording as
select id, format_version, host, container, program, mvid, version, file_version, "commit", started, duration_ns, pid, runtime,
    timed, bucket_s, estimated, complete, lost, bytes, allocs, live_bytes, live_allocs,
    greatest(interval '0 seconds', started + to_microseconds(duration_ns // 1000) - now()) as ahead
from row where kind = 'recording'
qualify row_number() over (partition by id order by duration_ns desc, allocs desc) = 1;

create or replace table method as
select id, any_value(name) as name, any_value(module) as module, any_value(owner) as owner
from row where kind = 'method' group by id;

create or replace table type as
select id, any_value(name) as name, any_value(module) as module from row where kind = 'type' group by id;

create or replace table frame as
select id, any_value(method) as method, any_value(il) as il, any_value(file) as file, any_value(line) as line
from row where kind = 'frame' group by id;

create or replace table stack as
select id, any_value(parent) as parent, any_value(frame) as frame, any_value(depth) as depth
from row where kind = 'stack' group by id;

-- Of stacks on which something was allocated: its methods, each once, and the innermost frame of own code.
create or replace table ancestors as
select stack, any_value(own) as own, any_value(methods) as methods from row where kind = 'ancestors' group by stack;

create or replace table allocated as
select recording, minute, stack, type, max(bytes) as bytes, max(allocs) as allocs,
    arg_max(bytes_variance, allocs) as bytes_variance, arg_max(allocs_variance, allocs) as allocs_variance,
    max(seen_bytes) as seen_bytes, max(seen_allocs) as seen_allocs
from row where kind = 'allocated' group by recording, minute, stack, type;

create or replace table alive as
select a.recording, a.stack, a.type, arg_max(a.bytes, a.nth) as bytes, arg_max(a.allocs, a.nth) as allocs
from (select *, row_number() over () as nth from row where kind = 'alive') a group by a.recording, a.stack, a.type;

drop table row;

-- What most questions want: amounts with names, by host and version. method is the one that allocates.
create or replace view named as
select a.*, r.host, r.container, r.program, r.version, r."commit", r.mvid, r.estimated, t.name as type_name, m.name as method,
    m.module, to_timestamp(a.minute) at time zone 'UTC' as at
from allocated a
join recording r on r.id = a.recording
join type t on t.id = a.type
join stack s on s.id = a.stack
join frame f on f.id = s.frame
join method m on m.id = f.method;

-- 95 of 100 exact sums lie in it; s: the sum, v: that of the variances, seen: what the logs have. As in the schema: the sum is as
-- a count of n = s * s / v parts; 1.959964 squared is 3.841459.
create or replace macro interval_low(s, v, seen) as
    case when not coalesce(v, 0) > 0 then s
         else greatest(seen, s / (s * s / v) * (s * s / v + 1.9207295 - 1.959964 * sqrt(s * s / v + 0.96036475))) end;
create or replace macro interval_high(s, v) as
    case when not coalesce(v, 0) > 0 then s
         else s / (s * s / v) * (s * s / v + 1.9207295 + 1.959964 * sqrt(s * s / v + 0.96036475)) end;
