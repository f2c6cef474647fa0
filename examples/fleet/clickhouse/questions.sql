-- Questions to the tables of schema.sql; `ask NAME` asks one. {name} is a value that `ask NAME name=value` gives.

-- programs: what allocates most over all recordings, by program and version?
select sum(bytes) as bytes, sum(allocs) as allocs, uniqExact(recording) as recordings, uniqExact(host) as hosts, program,
    version, revision
from made_now
all inner join (select id as recording, host, program, version, substring(`commit`, 1, 10) as revision from recording) as r
using (recording)
group by program, version, revision order by bytes desc, program, version;

-- hosts: how much on each host?
select sum(bytes) as bytes, sum(allocs) as allocs, host, program
from made_now all inner join (select id as recording, host, program from recording) as r using (recording)
group by host, program order by bytes desc, host, program;

-- top: which methods allocate most over the fleet, with all that they call?
select bytes, allocs, recordings, name as method, module
from (
    select method as id, sum(bytes) as bytes, sum(allocs) as allocs, uniqExact(recording) as recordings
    from inclusive_now group by method) as l
any left join (select id, any(name) as name, any(module) as module from methods group by id) as r using (id)
order by bytes desc, name limit 50;

-- types: which types are most of the bytes?
select sum(bytes) as bytes, sum(allocs) as allocs, name as type
from (select type as id, sum(bytes) as bytes, sum(allocs) as allocs from made_now group by type) as l
any left join (select id, any(name) as name from types group by id) as r using (id)
group by name order by bytes desc, name limit 50;

-- methods: which methods allocate most, themselves?
select bytes, allocs, name as method, module
from (select method as id, sum(bytes) as bytes, sum(allocs) as allocs from made_now group by method) as l
any left join (select id, any(name) as name, any(module) as module from methods group by id) as r using (id)
order by bytes desc, name limit 50;

-- lines: which lines of own code allocate most, themselves or through what they call?
select bytes, allocs, name as method, file, line
from (
    select sum(bytes) as bytes, sum(allocs) as allocs, name, file, line
    from (
        select method, bytes, allocs, file, line
        from (select own, sum(bytes) as bytes, sum(allocs) as allocs from made_now group by own) as l
        all inner join (
            select id as own, any(method) as method, any(file) as file, any(line) as line from frames group by id) as r using (own)) as l
    any left join (select id as method, any(name) as name from methods group by id) as r using (method)
    group by name, file, line)
order by bytes desc, name, file, line limit 50;

-- who: who allocates this type? (type=NAME)
select bytes, allocs, recordings, name as method
from (
    select sum(bytes) as bytes, sum(allocs) as allocs, uniqExact(recording) as recordings, name
    from (select recording, method, bytes, allocs from made_now where type in (select id from types where name = {type})) as l
    any left join (select id as method, any(name) as name from methods group by id) as r using (method) group by name)
order by bytes desc, name limit 50;

-- versions: how much does a recording of each version allocate?
select round(bytes / recordings) as bytes_each, round(allocs / recordings) as allocs_each, bytes, recordings, program, version
from (
    select sum(bytes) as bytes, sum(allocs) as allocs, uniqExact(recording) as recordings, program, version
    from made_now all inner join (select id as recording, program, version from recording) as r using (recording)
    group by program, version)
order by program, version;

-- deployment: what has a version changed, for each recording of it? (before=VERSION after=VERSION)
select round(after_bytes) - round(before_bytes) as grew, round(before_bytes) as old_bytes, round(after_bytes) as new_bytes,
    name as method
from (
    select name, sum(old) as before_bytes, sum(new) as after_bytes
    from (
        select method,
            sumIf(bytes, version = {before}) / (select greatest(count(), 1) from recording where version = {before}) as old,
            sumIf(bytes, version = {after}) / (select greatest(count(), 1) from recording where version = {after}) as new
        from made_now
        all inner join (select id as recording, version from recording where version in ({before}, {after})) as r using (recording)
        group by method) as l
    any left join (select id as method, any(name) as name from methods group by id) as r using (method) group by name)
where round(after_bytes) != round(before_bytes) order by abs(grew) desc, name limit 50;

-- minutes: how much in each minute, by the clocks of the hosts?
select minute, sum(bytes) as bytes, sum(allocs) as allocs, count() as recordings
from by_minute_now where recording in (select id from recording where timed) group by minute order by minute;

-- estimates: how sure are sums of sampled recordings? 95 of 100 exact sums lie between bytes_low and bytes_high.
select bytes, if(v > 0, toUInt64(round(greatest(seen, s / n * (n + 1.9207295 - 1.959964 * sqrt(n + 0.96036475))))), bytes) as bytes_low,
    if(v > 0, toUInt64(round(s / n * (n + 1.9207295 + 1.959964 * sqrt(n + 0.96036475)))), bytes) as bytes_high, name as type
from (
    select bytes, toFloat64(bytes) as s, v, toFloat64(seen_sum) as seen, if(v > 0, s * s / v, 1.) as n, name
    from (
        select sum(bytes) as bytes, sum(bytes_variance) as v, sum(seen_bytes) as seen_sum, name
        from made_now any left join (select id as type, any(name) as name from types group by id) as r using (type)
        where recording in (select id from recording where estimated) group by name))
order by bytes desc, name limit 50;

-- clocks: which hosts have a clock that is fast? What they tell of lay in the future when it was loaded.
select host, max(toInt64(toUInt32(started)) + toInt64(duration_ns / 1000000000) - toInt64(toUInt32(loaded))) as seconds_ahead,
    count() as recordings
from recording group by host having seconds_ahead > 60 order by seconds_ahead desc, host;

-- complete: which recordings do not have all that was to be recorded, or more or less than they say?
select host, program, pid, started, complete, lost, said, loaded
from (select id as recording, host, program, pid, started, complete, lost, bytes as said from recording) as l
any left join (select recording, sum(bytes) as loaded from made_now group by recording) as r using (recording)
where complete = 0 or lost > 0 or said != loaded order by host, started;

-- sizes: how large are the tables, and what does a row take?
select table, sum(rows) as rows_there, sum(bytes_on_disk) as bytes, round(sum(bytes_on_disk) / sum(rows), 1) as of_a_row
from system.parts where active and database = currentDatabase() group by table order by bytes desc;
