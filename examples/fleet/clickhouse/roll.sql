-- Sums of some recordings, by day: {recordings} are ids in quotes, {roll} the number of this run. Rows count from the moment
-- the last statement has written into `rolled`; who asks meanwhile sees the sums of before.

insert into inclusive
select recording, day, method, sum(bytes) as bytes, sum(allocs) as allocs, toUInt64({roll}) as roll
from (
    select recording, day, arrayJoin(methods) as method, bytes, allocs
    from (
        select recording, toDate(minute, 'UTC') as day, stack, sum(bytes) as bytes, sum(allocs) as allocs
        from amounts where recording in ({recordings}) group by recording, day, stack) as l
    all inner join (
        select stack, any(methods) as methods from ancestors
        where stack in (select stack from allocated where recording in ({recordings})) group by stack) as r using (stack))
group by recording, day, method;

insert into made
select recording, day, type, method, own, sum(bytes) as bytes, sum(allocs) as allocs, toUInt64({roll}) as roll
from (
    select recording, day, type, own, frame, bytes, allocs
    from (
        select recording, day, stack, type, own, bytes, allocs
        from (
            select recording, toDate(minute, 'UTC') as day, stack, type, sum(bytes) as bytes, sum(allocs) as allocs
            from amounts where recording in ({recordings}) group by recording, day, stack, type) as l
        any left join (
            select stack, any(own) as own from ancestors
            where stack in (select stack from allocated where recording in ({recordings})) group by stack) as r using (stack)) as l
    any left join (
        select id as stack, any(frame) as frame from stacks
        where id in (select stack from allocated where recording in ({recordings})) group by id) as r using (stack)) as l
any left join (select id as frame, any(method) as method from frames group by id) as r using (frame)
group by recording, day, type, method, own;

insert into rolled (recording, roll) select distinct id, toUInt64({roll}) from recordings where id in ({recordings});
