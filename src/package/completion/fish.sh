
# What the tables above are used by.

# The words of the command line before the one that is completed.
function __shadowtrace_tokens
    commandline -opc
end

function __shadowtrace_first
    test (count (__shadowtrace_tokens)) -eq 1
end

# The words that are no options: their places on the command line, and "ended" behind a "--".
function __shadowtrace_places -a command
    set -l words (__shadowtrace_tokens)
    set -l ended
    set -l i 3
    while test $i -le (count $words)
        set -l word $words[$i]
        if test -n "$ended"; or not string match -q -- '-?*' $word
            echo $i
            __shadowtrace_stops $command; and set ended stops
        else if test "$word" = --
            echo ended
            set ended ended
        else if __shadowtrace_has_value $command $word
            set i (math $i + 1)
        end
        set i (math $i + 1)
    end
end

# Is it that command, and are options taken here?
function __shadowtrace_takes -a command
    set -l words (__shadowtrace_tokens)
    test "$words[2]" = $command; or return
    set -l places (__shadowtrace_places $command)
    contains ended $places; and return 1
    test (count $places) -eq 0; or not __shadowtrace_stops $command
end

# Which operand of that command is here, from 1 on; nothing: another command is.
function __shadowtrace_number -a command
    set -l words (__shadowtrace_tokens)
    test "$words[2]" = $command; or return
    set -l places (string match -v ended -- (__shadowtrace_places $command))
    math (count $places) + 1
end

# Is the N-th operand of that command here?
function __shadowtrace_at -a command number
    test "$(__shadowtrace_number $command)" = $number
end

# Is the N-th operand of that command here, or one after it?
function __shadowtrace_from -a command number
    set -l here (__shadowtrace_number $command)
    test -n "$here"; and test $here -ge $number
end

function __shadowtrace_pids
    set -l program (string replace -r '^~/' "$HOME/" -- (__shadowtrace_tokens)[1])
    command $program list 2>/dev/null | string replace -rf '^ *([0-9]+)  (.*?) *$' '$1\t$2'
end

# Words that are not there yet, with commas between.
function __shadowtrace_set
    set -l given (string replace -r '^--[^=]*=' '' -- (commandline -ct))
    set -l before (string match -r '^.*,' -- $given)
    for word in $argv
        string match -q -- "*,$word,*" ",$before"; or echo "$before$word"
    end
end

# The rest of the line is another program's: as if it stood alone.
function __shadowtrace_program
    set -l words (__shadowtrace_tokens)
    set -l places (string match -v ended -- (__shadowtrace_places $words[2]))
    set -l line
    if test (count $places) -gt 0
        set line (string escape -- $words[$places[1]..-1])
    else if string match -q -- '-*' (commandline -ct)
        return
    end
    complete -C (string join ' ' -- $line (commandline -ct))
end

# What follows an action: its options; behind one of those, a file.
function __shadowtrace_of_topic
    set -l words (__shadowtrace_tokens)
    set -l places (string match -v ended -- (__shadowtrace_places $words[2]))
    set -l taken (__shadowtrace_taken $words[2] $words[$places[2]])
    if test "$taken[1]" = files; and contains -- $words[-1] $taken[2..]
        __fish_complete_path (commandline -ct)
    else if set -q taken[2]
        printf '%s\n' $taken[2..]
    end
end
