-- A log of shadowtrace as tables, for ClickHouse: one log, plain or packed (.zst). Put its path in the place of LOG.ndjson.
--
--     sed 's|LOG.ndjson|orders.ndjson|' clickhouse.sql | clickhouse local --multiquery
--
-- The tables are those of schema.sql, without the column log. A member that a line does not have is its type's zero; ids begin
-- with 1, so 0 means none.

create table line engine = MergeTree order by kind as
select * from file('LOG.ndjson', 'JSONEachRow', '
    kind LowCardinality(String), id UInt32, name String, path String, module UInt32, owner LowCardinality(String), os UInt32,
    parent UInt32, method UInt32, il Nullable(UInt32), il0 Nullable(UInt32), call LowCardinality(String), t UInt64,
    thread UInt32, class UInt32, bytes UInt64, allocs UInt64, weight Nullable(Float64), node UInt32, heap LowCardinality(String),
    cut Bool, stack Array(String), type String, text String')
where kind in ('module', 'class', 'method', 'thread', 'node', 'alloc', 'site', 'mark')
settings input_format_skip_unknown_fields = 1, input_format_allow_errors_num = 1;

create view allocation as
select t, thread, class, node, coalesce(il, il0) as at, heap, stack, type, cut,
    coalesce(weight, toFloat64(bytes)) as weighed, if(kind = 'alloc', 1, allocs) * coalesce(weight / bytes, 1) as objects
from line where kind in ('alloc', 'site');

create view named as
select a.t as t, a.thread as thread, if(a.type != '', a.type, c.name) as type,
    multiIf(a.cut, '(path not kept)', notEmpty(a.stack), a.stack[1], m.name) as method, mm.name as module, a.node as node,
    a.at as il, a.heap as heap, a.weighed as bytes, a.objects as allocs
from allocation a
left join (select id, name from line where kind = 'class') c on c.id = a.class
left join (select id, method from line where kind = 'node') n on n.id = a.node
left join (select id, name, module from line where kind = 'method') m on m.id = n.method
left join (select id, name from line where kind = 'module') mm on mm.id = m.module;

-- Which types are most of the bytes?
select round(sum(bytes)) as bytes, round(sum(allocs)) as allocs, type from named group by type order by bytes desc, type;

-- Which methods allocate most, themselves?
select round(sum(bytes)) as bytes, round(sum(allocs)) as allocs, method, module from named
group by method, module order by bytes desc, method, module;
