-- What has been loaded before `touched` was there: all of it is to be summed up.
insert into touched select recording, toDate(minute, 'UTC') as day, now() as loaded from allocated group by recording, day;
