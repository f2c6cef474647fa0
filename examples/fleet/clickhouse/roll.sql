-- Sums of one day of some recordings: {recordings} are ids in quotes, {day} a date in quotes, {roll} the number of this run, {at}
-- when it began, by the server's clock. Rows count from the moment the last statement has written into `rolled`; queries
-- meanwhile see the previous sums. Rows inserted meanwhile are in `touched` later than {at}: the next run takes them.
-- The innermost select is that of `amounts`, with the condition inside it: 18.16 would not bring it there.

insert into by_minute
select recording, toDate({day}) as day, minute, sum(bytes) as bytes, sum(allocs) as allocs, toUInt64({roll}) as roll
from (
    select recording, minute, stack, type, max(b) as bytes, max(a) as allocs
    from (
        select recording, minute, stack, type, bytes as b, allocs as a from allocated
        where recording in ({recordings})
            and minute >= toDateTime(toDate({day}), 'UTC') and minute < toDateTime(toDate({day}) + 1, 'UTC'))
    group by recording, minute, stack, type)
group by recording, minute;

insert into inclusive
select recording, toDate({day}) as day, method, sum(bytes) as bytes, sum(allocs) as allocs, toUInt64({roll}) as roll
from (
    select recording, arrayJoin(methods) as method, bytes, allocs
    from (
        select recording, stack, sum(bytes) as bytes, sum(allocs) as allocs
        from (
            select recording, minute, stack, type, max(b) as bytes, max(a) as allocs
            from (
                select recording, minute, stack, type, bytes as b, allocs as a from allocated
                where recording in ({recordings})
                    and minute >= toDateTime(toDate({day}), 'UTC') and minute < toDateTime(toDate({day}) + 1, 'UTC'))
            group by recording, minute, stack, type)
        group by recording, stack) as l
    all inner join (
        select stack, any(methods) as methods from ancestors
        where stack in (select stack from allocated where recording in ({recordings})) group by stack) as r using (stack))
group by recording, method;

insert into made
select recording, toDate({day}) as day, type, method, own, sum(bytes) as bytes, sum(allocs) as allocs,
    sum(bytes_variance) as bytes_variance, sum(seen_bytes) as seen_bytes, toUInt64({roll}) as roll
from (
    select recording, type, own, frame, bytes, allocs, bytes_variance, seen_bytes
    from (
        select recording, stack, type, own, bytes, allocs, bytes_variance, seen_bytes
        from (
            select recording, stack, type, sum(bytes) as bytes, sum(allocs) as allocs, sum(bytes_variance) as bytes_variance,
                sum(seen_bytes) as seen_bytes
            from (
                select recording, minute, stack, type, max(b) as bytes, max(a) as allocs, argMax(v, a) as bytes_variance,
                    max(s) as seen_bytes
                from (
                    select recording, minute, stack, type, bytes as b, allocs as a, bytes_variance as v, seen_bytes as s
                    from allocated
                    where recording in ({recordings})
                        and minute >= toDateTime(toDate({day}), 'UTC') and minute < toDateTime(toDate({day}) + 1, 'UTC'))
                group by recording, minute, stack, type)
            group by recording, stack, type) as l
        any left join (
            select stack, any(own) as own from ancestors
            where stack in (select stack from allocated where recording in ({recordings})) group by stack) as r using (stack)) as l
    any left join (
        select id as stack, any(frame) as frame from stacks
        where id in (select stack from allocated where recording in ({recordings})) group by id) as r using (stack)) as l
any left join (select id as frame, any(method) as method from frames group by id) as r using (frame)
group by recording, type, method, own;

insert into rolled (recording, day, roll, at)
select distinct id, toDate({day}), toUInt64({roll}), toDateTime({at}) from recordings where id in ({recordings});
