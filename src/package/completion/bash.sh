# What the command line is to be completed with, by the tables above: each sets REPLY.
#   _shadowtrace_options COMMAND            its options
#   _shadowtrace_value COMMAND OPTION       what its value is, and words; empty: it has none
#   _shadowtrace_operand COMMAND N          the same of the N-th word that is no option
#   _shadowtrace_topic COMMAND ACTION       the same of what follows an action
# Options of the commands in _shadowtrace_stopping end at the first word that is no option.

# Words as the command will see them, up to the cursor: readline parts --view=tree and Shop.cs:12.
# Sets words, at (the last one), begin (where each begins in COMP_WORDS) and kept (what of the last
# one readline has parted off).
_shadowtrace_words()
{
    local rest=${COMP_LINE:0:COMP_POINT} stripped i word
    words=() begin=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        stripped=${rest#"${rest%%[![:space:]]*}"}
        word=${COMP_WORDS[i]}
        ((i < COMP_CWORD)) || word=$stripped
        if ((i == 0)) || [[ $stripped != "$rest" || ! $rest ]]; then
            words+=("$word") begin+=("$i") kept=
        else
            kept=${words[-1]}
            words[-1]+=$word
        fi
        rest=${stripped#"$word"}
    done
    at=$((${#words[@]} - 1))
    [[ $word != [=:] ]] || kept=${words[at]}
}

# Offers those of the words that begin as the current one does, behind a prefix.
_shadowtrace_offer()
{
    local prefix=$1 word
    shift
    for word; do
        word=$prefix$word
        [[ $word == "$current"* ]] && COMPREPLY+=("${word#"$kept"}")
    done
}

_shadowtrace_paths()
{
    local prefix=$1 path paths=()
    shift
    compopt -o filenames 2>/dev/null
    while IFS= read -r path; do
        paths+=("$path")
    done < <(compgen "$@" -- "${current#"$prefix"}")
    _shadowtrace_offer "$prefix" "${paths[@]}"
}

# Of what the processes say of themselves only numbers reach the shell.
_shadowtrace_pids()
{
    local pid pids=()
    while read -r pid _; do
        [[ $pid =~ ^[0-9]+$ ]] && pids+=("$pid")
    done < <("${words[0]/#~\//$HOME/}" list 2>/dev/null)
    _shadowtrace_offer "$1" "${pids[@]}"
}

# Words that are not there yet, with commas between.
_shadowtrace_set()
{
    local prefix=$1 given word left=()
    shift
    given=${current#"$prefix"}
    [[ $given == *,* ]] && given=${given%,*}, || given=
    for word; do
        [[ ,$given == *,$word,* ]] || left+=("$word")
    done
    compopt -o nospace 2>/dev/null
    _shadowtrace_offer "$prefix$given" "${left[@]}"
}

# The rest of the line is another program's: as if it stood alone.
_shadowtrace_program()
{
    local first=$1
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$first"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$first"
    elif ((COMP_CWORD == first)); then
        _shadowtrace_paths '' -c
    else
        _shadowtrace_paths '' -f
    fi
}

# PREFIX KIND WORD...: what the kind is, behind the prefix.
_shadowtrace_kind()
{
    local prefix=$1 kind=$2
    shift 2
    case $kind in
    files) _shadowtrace_paths "$prefix" -f ;;
    folders) _shadowtrace_paths "$prefix" -d ;;
    pids) _shadowtrace_pids "$prefix" ;;
    commands) _shadowtrace_offer "$prefix" $_shadowtrace_commands ;;
    words) _shadowtrace_offer "$prefix" "$@" ;;
    set) _shadowtrace_set "$prefix" "$@" ;;
    esac
}

# The words before the current one: sets option (whose value is next), operands, program, ended.
_shadowtrace_read()
{
    local i word
    option='' operands=() program='' ended=''
    for ((i = 2; i < at; i++)); do
        word=${words[i]}
        if [[ $option ]]; then
            option=
        elif [[ ! $ended && $word == -- ]]; then
            ended=1
        elif [[ ! $ended && $word == -?* ]]; then
            _shadowtrace_value "$command" "$word"
            [[ $REPLY ]] && option=$word
        else
            operands+=("$word")
            [[ " $_shadowtrace_stopping " != *" $command "* ]] || ended=1
            _shadowtrace_operand "$command" "${#operands[@]}"
            if [[ $REPLY == program ]]; then
                program=$i
                return
            fi
        fi
    done
}

# What follows an action: its options; behind one of those, a file.
_shadowtrace_of_topic()
{
    local before=${words[at - 1]} kind
    _shadowtrace_topic "$command" "${operands[1]}"
    set -- $REPLY
    kind=$1
    shift
    if [[ $kind == files && " $* " == *" $before "* ]]; then
        _shadowtrace_kind '' files
    else
        _shadowtrace_offer '' "$@"
    fi
}

_shadowtrace_complete_operand()
{
    _shadowtrace_operand "$command" $((${#operands[@]} + 1))
    case $REPLY in
    program) _shadowtrace_program "${begin[at]}" ;;
    topic) _shadowtrace_of_topic ;;
    *) _shadowtrace_kind '' $REPLY ;;
    esac
}

_shadowtrace()
{
    local IFS=$' \t\n' words begin at kept current command option operands program ended REPLY
    COMPREPLY=()
    _shadowtrace_words
    current=${words[at]#[\"\']}
    current=${current//\\/}
    command=${words[1]}
    if ((at == 1)); then
        _shadowtrace_offer '' $_shadowtrace_commands --help --version
        return
    fi
    _shadowtrace_read
    if [[ $program ]]; then
        _shadowtrace_program "${begin[program]}"
    elif [[ $option ]]; then
        _shadowtrace_value "$command" "$option"
        _shadowtrace_kind '' $REPLY
    elif [[ ! $ended && $current == --*=* ]]; then
        _shadowtrace_value "$command" "${current%%=*}"
        _shadowtrace_kind "${current%%=*}=" $REPLY
    elif [[ ! $ended && $current == -* ]]; then
        _shadowtrace_options "$command"
        _shadowtrace_offer '' $REPLY
    else
        _shadowtrace_complete_operand
    fi
}

complete -F _shadowtrace shadowtrace
