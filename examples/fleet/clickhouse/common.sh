# What `load` and `ask` share: how a server is talked to. FLEET_URL (default http://127.0.0.1:8123), FLEET_DATABASE
# (shadowtrace), FLEET_NETRC: a file as curl --netrc-file takes it, with the server's user and password.
here=$(cd "$(dirname "$0")" && pwd)
url=${FLEET_URL:-http://127.0.0.1:8123}
database=${FLEET_DATABASE:-shadowtrace}
schema=3 # version of schema.sql

fail() { # STATUS TEXT
    status=$1
    shift
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit "$status"
}

# The body of a request is standard input. What the server says of an error is one line on stderr.
http() { # PARAMETERS
    answer=$(mktemp -d) || fail 3 "cannot make a folder for the answer"
    code=$(curl --silent --show-error ${FLEET_NETRC:+--netrc-file "$FLEET_NETRC"} --output "$answer/body" --write-out '%{http_code}' \
        --header 'Expect:' --header 'Transfer-Encoding: chunked' --upload-file - --request POST "$url/?$1" 2>"$answer/why") || {
        why=$(sed 's/^curl: ([0-9]*) //' "$answer/why")
        rm -rf "$answer"
        fail 3 "$url: $why"
    }
    if [ "$code" != 200 ]; then
        why=$(tr '\n' ' ' <"$answer/body" | cut -c1-300)
        rm -rf "$answer"
        fail 3 "$url: status $code: $why"
    fi
    cat "$answer/body"
    rm -rf "$answer"
}

query() { # TEXT [FORMAT]: one statement
    printf '%s\n%s' "$1" "${2:+format $2}" |
        http "database=$database&output_format_json_quote_64bit_integers=0&max_memory_usage=0"
}

# Each statement of a file; `;` at the end of a line ends one.
statements() { # FILE
    sed 's/^--.*//' "$1" | awk 'BEGIN { RS = ";\n" } /[^ \n]/ { gsub(/\n/, " "); print }'
}

run_file() { # FILE
    statements "$1" | while IFS= read -r one; do
        query "$one" || exit 3
    done
}

version_of() { # of the schema that is there; 0: none
    there=$(printf "exists table %s.version" "$database" | http '') || exit 3
    [ "$there" = 1 ] || { echo 0; return; }
    query "select max(version) from version" TabSeparated
}

# A text as SQL has it.
quoted() {
    printf "'%s'" "$(printf '%s' "$1" | sed "s/[\\\\']/\\\\&/g")"
}
