-- The second half of migrate-1-2.sql.
insert into recordings (id, host, program, mvid, version, file_version, `commit`, started, duration_ns, pid, runtime, timed,
    estimated, complete, lost, bytes, allocs, live_bytes, live_allocs, loaded)
select id, host, program, mvid, version, file_version, `commit`, started, duration_ns, pid, runtime, timed, estimated, complete,
    lost, bytes, allocs, live_bytes, live_allocs, now() from recordings_1;
drop table recordings_1;
