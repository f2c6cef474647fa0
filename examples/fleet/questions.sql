-- Questions to the tables of schema.sql; each can be pasted into DuckDB as it stands.

-- programs: what allocates most over all recordings, by program and version?
select sum(bytes)::bigint as bytes, sum(allocs)::bigint as allocs, count(distinct recording) as recordings,
    count(distinct host) as hosts, program, version, left("commit", 10) as "commit"
from named group by program, version, "commit" order by bytes desc, program, version;

-- hosts: how much on each host?
select sum(bytes)::bigint as bytes, sum(allocs)::bigint as allocs, host, program
from named group by host, program order by bytes desc, host, program;

-- types: which types are most of the bytes?
select sum(bytes)::bigint as bytes, sum(allocs)::bigint as allocs,
    round(100 * sum(bytes) / sum(sum(bytes)) over (), 1) as percent, type_name as type
from named group by type_name order by bytes desc, type;

-- methods: which methods allocate most, themselves?
select sum(bytes)::bigint as bytes, sum(allocs)::bigint as allocs, method, module
from named group by method, module order by bytes desc, method;

-- inclusive: which methods allocate most, with all that they call?
with on_stack as (select stack, sum(bytes) as bytes, sum(allocs) as allocs from allocated group by stack),
    inside as (select unnest(methods) as method, bytes, allocs from on_stack join ancestors using (stack))
select sum(i.bytes)::bigint as bytes, sum(i.allocs)::bigint as allocs, m.name as method, m.module
from inside i join method m on m.id = i.method group by m.name, m.module order by bytes desc, method;

-- lines: which lines of own code allocate most, themselves or through what they call?
select sum(a.bytes)::bigint as bytes, sum(a.allocs)::bigint as allocs, m.name as method, f.file, f.line, f.il
from allocated a join ancestors c using (stack) join frame f on f.id = c.own join method m on m.id = f.method
group by m.name, f.file, f.line, f.il order by bytes desc, method, f.line, f.il;

-- who: who allocates a type? (--set type=…)
select sum(a.bytes)::bigint as bytes, sum(a.allocs)::bigint as allocs, count(distinct a.recording) as recordings,
    coalesce(m.name, '(no own frame)') as own, a.method
from named a join ancestors c using (stack) left join frame f on f.id = c.own left join method m on m.id = f.method
where a.type_name = getvariable('type') group by m.name, a.method order by bytes desc, own, a.method;

-- deployment: what has a version changed, for each recording of it? (--set before=… --set after=…)
with each as (
    select version, method, type_name, sum(bytes) / any_value(n) as bytes, sum(allocs) / any_value(n) as allocs
    from named join (select version, count(*) as n from recording group by version) using (version)
    where version in (getvariable('before'), getvariable('after')) group by version, method, type_name)
select round(coalesce(n.bytes, 0) - coalesce(o.bytes, 0))::bigint as grew, round(coalesce(o.bytes, 0))::bigint as old_bytes,
    round(coalesce(n.bytes, 0))::bigint as new_bytes, method, type_name as type
from (from each where version = getvariable('before')) o
full join (from each where version = getvariable('after')) n using (method, type_name)
where coalesce(n.bytes, 0) <> coalesce(o.bytes, 0) order by abs(grew) desc, method, type;

-- minutes: how much in each minute, by the clocks of the hosts?
select at as minute, sum(bytes)::bigint as bytes, sum(allocs)::bigint as allocs, count(distinct recording) as recordings
from named where recording in (select id from recording where timed) group by at order by at;

-- alive: what is not known to be dead at the ends of recordings? (record --live)
select sum(a.bytes)::bigint as bytes, sum(a.allocs)::bigint as allocs, t.name as type, m.name as method
from alive a join type t on t.id = a.type join stack s on s.id = a.stack join frame f on f.id = s.frame
join method m on m.id = f.method group by t.name, m.name order by bytes desc, type, method;

-- estimates: how sure are sums of sampled recordings?
select sum(bytes)::bigint as bytes, interval_low(sum(bytes), sum(bytes_variance), sum(seen_bytes))::bigint as bytes_low,
    interval_high(sum(bytes), sum(bytes_variance))::bigint as bytes_high, type_name as type
from named where estimated group by type_name order by bytes desc, type;

-- clocks: which hosts have a clock that is fast? What they tell of lies in the future.
select host, max(ahead) as ahead, count(*) as recordings from recording where ahead > interval '1 minute' group by host order by host;

-- complete: which recordings do not have all that was to be recorded, or more or less than they say?
select r.host, r.program, r.pid, r.started, r.complete, r.lost, r.bytes, coalesce(s.bytes, 0)::bigint as loaded
from recording r left join (select recording, sum(bytes) as bytes from allocated group by recording) s on s.recording = r.id
where not r.complete or r.lost > 0 or r.bytes <> coalesce(s.bytes, 0) order by r.host, r.started;
