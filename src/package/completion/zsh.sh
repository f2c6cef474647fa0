# What the tables above are used by.

_shadowtrace_pids()
{
    local line
    local -a pids
    for line in ${(f)"$(_call_program pids ${(q)program} list 2>/dev/null)"}; do
        [[ $line =~ '^ *([0-9]+)  (.*)$' ]] && pids+=("$match[1]:${${match[2]//:/\\:}%% #}")
    done
    _describe 'traced process' pids
}

# The first word of another program's command line.
_shadowtrace_program()
{
    _alternative 'commands:command:_command_names -e' 'files:program:_files -g "*(-*)"'
}

# What follows an action: its options; behind one of those, a file.
_shadowtrace_of_topic()
{
    local -a taken
    _shadowtrace_taken $words[2]
    if [[ $taken[1] == files && ${taken[(Ie)$words[CURRENT-1]]} -gt 1 ]]; then
        _files
    elif (( $#taken > 1 )); then
        compadd -- $taken[2,-1]
    else
        _message argument
    fi
}

_shadowtrace()
{
    local curcontext=$curcontext state program=${words[1]/#\~\//$HOME/} command
    local -a line

    _arguments -C -A '-*' \
        '(- *)'{-h,--help}'[list the commands]' \
        '(- *)'{-V,--version}'[print the version]' \
        '1:command:_shadowtrace_commands' \
        '*::argument:->arguments' && return
    [[ $state == arguments ]] || return
    command=$words[1]
    (( $+functions[_shadowtrace-$command] )) || return
    curcontext=${curcontext%:*:*}:shadowtrace-$command:
    _shadowtrace-$command
}

_shadowtrace "$@"
